// Markdown as a terminal can show it: what the markers of a line mean. Pure, and bounded for any input.
import type { Style } from './paint.ts'

/** A row can end here: at a space, or at a character of a script that is written without spaces. */
export const BREAK: RegExp = /[\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/

/** A piece of text in one style. */
export interface Span {
  readonly text: string
  readonly style: Style
}

/** What a line starts with decides what it is. */
export interface Block {
  /** Written before the text. */
  readonly bullet: string
  /** Written before further rows of the text. */
  readonly hang: string
  readonly style: Style
  /** How many characters of the line the markers take. */
  readonly taken: number
}

const PARAGRAPH: Block = { bullet: '', hang: '', style: [], taken: 0 }

/** A line of which only this is known could still become a block. */
export function isUndecided(start: string): boolean {
  return /^\s*(?:[#>*+\-`~_]{0,100}|\d{1,9}[.)]?)\s*$/.test(start)
}

export function blockOf(line: string): Block {
  const heading = /^#{1,6}\s+/.exec(line)
  if (heading) return { bullet: '', hang: '', style: ['bold', 'underline'], taken: heading[0].length }
  const item = /^(\s{0,20})([*+-]|\d{1,9}[.)])\s+/.exec(line)
  if (item) {
    const [all, space = '', marker = ''] = item
    const bullet = `${space}${/\d/.test(marker) ? marker : '•'} `
    return { bullet, hang: ' '.repeat(bullet.length), style: [], taken: all.length }
  }
  const quote = /^>\s?/.exec(line)
  return quote ? { bullet: '│ ', hang: '│ ', style: ['italic'], taken: quote[0].length } : PARAGRAPH
}

export function isRule(line: string): boolean {
  return /^ {0,3}(?:-\s*){3,100}$|^ {0,3}(?:\*\s*){3,100}$|^ {0,3}(?:_\s*){3,100}$/.test(line)
}

/** The marker that opens or closes a block of code. */
export function fenceOf(line: string): string | undefined {
  return /^ {0,20}(`{3,20}|~{3,20})[^`]{0,100}$/.exec(line)?.[1]
}

/** Markers that belong together; longer spans are shown as they were written, so that streamed text need not wait. */
const SPAN =
  /(?<ticks>`{1,3})(?<code>[^`].{0,300}?)\k<ticks>(?!`)|(?<two>\*\*\*|\*\*|__|~~)(?=\S)(?<strong>.{0,300}?[^\s*_~])\k<two>|(?<![\w*])\*(?=[^\s*])(?<italic>.{0,300}?[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])(?<slanted>.{0,300}?[^\s_])_(?![\w_])|\[(?<label>[^\]]{1,300})\]\((?<url>[^()\s]{1,300})\)|\\(?<plain>[\\`*_{}[\]()#+.!|~>-])/g

/** Starts something that may end later. */
const OPENER = /`|\*(?=\S|$)|(?<!\w)_(?=\S|$)|~(?=~|$)|\[(?![^\]]{0,300}\][^(])|\\$/

const LONGEST = 620

const STRONG: ReadonlyMap<string, Style> = new Map([
  ['~~', ['strikethrough']],
  ['***', ['bold', 'italic']],
])

/** The text of a line in its styles. */
export function spansOf(text: string, style: Style = []): Span[] {
  const spans: Span[] = []
  let from = 0
  for (const match of text.matchAll(SPAN)) {
    if (match.index > from) spans.push({ text: text.slice(from, match.index), style })
    spans.push(...spansIn(match.groups ?? {}, style))
    from = match.index + match[0].length
  }
  if (from < text.length) spans.push({ text: text.slice(from), style })
  return spans
}

function spansIn(found: { [name: string]: string | undefined }, style: Style): Span[] {
  const { code, two, strong, italic, slanted, label, url = '', plain } = found
  if (code !== undefined) return [{ text: code, style: [...style, 'cyan'] }]
  if (strong !== undefined) return spansOf(strong, [...style, ...(STRONG.get(two ?? '') ?? (['bold'] as const))])
  const emphasised = italic ?? slanted
  if (emphasised !== undefined) return spansOf(emphasised, [...style, 'italic'])
  if (label === undefined) return [{ text: plain ?? '', style }]
  // the address is always shown: a label can say anything
  const address: Span = { text: url, style: [...style, 'underline', 'blue'] }
  if (label === url) return [address]
  return [...spansOf(label, style), { text: ' (', style }, address, { text: ')', style }]
}

/** How much of the beginning of a line keeps its meaning whatever follows; it ends between two words. */
export function settledLength(text: string): number {
  let from = 0
  let settled = 0
  for (const { index, length } of [...matchesIn(text), { index: text.length, length: 0 }]) {
    const opener = text.slice(from, index).search(OPENER)
    const isWaiting = opener >= 0 && text.length - from - opener < LONGEST
    settled = Math.max(settled, afterLastBreak(text, from, isWaiting ? from + opener : index))
    if (isWaiting) break
    from = index + length
  }
  return settled
}

function matchesIn(text: string): { index: number; length: number }[] {
  return Array.from(text.matchAll(SPAN), ({ index, 0: { length } }) => ({ index, length }))
}

/** The place after the last break between two places; 0 when there is none. */
export function afterLastBreak(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (BREAK.test(text[at - 1] ?? '')) return at
  return 0
}
