import { styleText } from 'node:util'

/** What text looks like: names of `styleText`. */
export type Style = Exclude<Parameters<typeof styleText>[0], string | null | undefined>

/** Adds terminal colours to text that is safe to show. */
export type Paint = (style: Style, text: string) => string

/** Gives text the styles of the terminal, or leaves it as it is. */
export function paintFor(colour: boolean): Paint {
  if (!colour) return (_, text) => text
  return (style, text) => (text === '' || style.length === 0 ? text : styleText(style, text, { validateStream: false }))
}
