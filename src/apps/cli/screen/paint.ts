import { styleText } from 'node:util'

/** Style names of `styleText`. */
export type Style = Exclude<Parameters<typeof styleText>[0], string | null | undefined>

/** Adds terminal styles to escaped text. */
export type Paint = (style: Style, text: string) => string

/** Returns a `Paint` that adds styles, or one that returns text unchanged when `colour` is false. */
export function createPaint(colour: boolean): Paint {
  if (!colour) return (_, text) => text
  return (style, text) => (text === '' || style.length === 0 ? text : styleText(style, text, { validateStream: false }))
}
