// Parses the markdown markers of one line. Every pattern is bounded, so hostile input cannot slow it down.
import type { Style } from './paint.ts'

/** A row may be wrapped here: at a space, or after a character of a script without spaces. */
export const BREAK: RegExp = /[\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/

/** Text in one style. */
interface Span {
  /** The text without its markers. */
  readonly text: string
  /** The style of the text. */
  readonly style: Style
}

/** The kind of a line (heading, list item, quote, paragraph), which its first characters decide. */
export interface Block {
  /** Written before the text. */
  readonly bullet: string
  /** Written before each wrapped row of the text. */
  readonly hang: string
  /** The style of the whole text. */
  readonly style: Style
  /** Length of the markers at the start of the line. */
  readonly markerLength: number
}

const PARAGRAPH: Block = { bullet: '', hang: '', style: [], markerLength: 0 }

/** With more text, a line that starts like this can still become a heading, list item or rule. */
export function mayBecomeBlock(start: string): boolean {
  return /^\s*(?:[#>*+\-`~_]{0,100}|\d{1,9}[.)]?)\s*$/.test(start)
}

/** Parses the markers at the start of a line. */
export function parseBlock(line: string): Block {
  const heading = /^#{1,6}\s+/.exec(line)
  if (heading) return { bullet: '', hang: '', style: ['bold', 'underline'], markerLength: heading[0].length }
  const item = /^(\s{0,20})([*+-]|\d{1,9}[.)])\s+/.exec(line)
  if (item) {
    const [all, space = '', marker = ''] = item
    const bullet = `${space}${/\d/.test(marker) ? marker : '•'} `
    return { bullet, hang: ' '.repeat(bullet.length), style: [], markerLength: all.length }
  }
  const quote = /^>\s?/.exec(line)
  return quote ? { bullet: '│ ', hang: '│ ', style: ['italic'], markerLength: quote[0].length } : PARAGRAPH
}

/** A horizontal rule: `---`, `***` or `___`. */
export function isRule(line: string): boolean {
  return /^ {0,3}(?:-\s*){3,100}$|^ {0,3}(?:\*\s*){3,100}$|^ {0,3}(?:_\s*){3,100}$/.test(line)
}

/** The marker of a line that opens or closes a code block. */
export function parseFence(line: string): string | undefined {
  return /^ {0,20}(`{3,20}|~{3,20})[^`]{0,100}$/.exec(line)?.[1]
}

/** Matches a styled span. Longer spans are shown unstyled, so that streamed text is not held for long. */
const SPAN =
  /(?<ticks>`{1,3})(?<code>[^`].{0,300}?)\k<ticks>(?!`)|(?<two>\*\*\*|\*\*|__|~~)(?=\S)(?<strong>.{0,300}?[^\s*_~])\k<two>|(?<![\w*])\*(?=[^\s*])(?<italic>.{0,300}?[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])(?<slanted>.{0,300}?[^\s_])_(?![\w_])|\[(?<label>[^\]]{1,300})\]\((?<url>[^()\s]{1,300})\)|\\(?<plain>[\\`*_{}[\]()#+.!|~>-])/g

/** Matches a marker that may open a span. */
const OPENER = /`|\*(?=\S|$)|(?<!\w)_(?=\S|$)|~(?=~|$)|\[(?![^\]]{0,300}\][^(])|\\$/

const MAX_SPAN = 620

const STRONG: ReadonlyMap<string, Style> = new Map([
  ['~~', ['strikethrough']],
  ['***', ['bold', 'italic']],
])

/** Splits the text of a line into styled spans. */
export function parseSpans(text: string, style: Style = []): Span[] {
  const spans: Span[] = []
  let from = 0
  for (const match of text.matchAll(SPAN)) {
    if (match.index > from) spans.push({ text: text.slice(from, match.index), style })
    spans.push(...matchSpans(match.groups ?? {}, style))
    from = match.index + match[0].length
  }
  if (from < text.length) spans.push({ text: text.slice(from), style })
  return spans
}

function matchSpans(found: { [name: string]: string | undefined }, style: Style): Span[] {
  const { code, two, strong, italic, slanted, label, url = '', plain } = found
  if (code !== undefined) return [{ text: code, style: [...style, 'cyan'] }]
  if (strong !== undefined) return parseSpans(strong, [...style, ...(STRONG.get(two ?? '') ?? (['bold'] as const))])
  const emphasised = italic ?? slanted
  if (emphasised !== undefined) return parseSpans(emphasised, [...style, 'italic'])
  if (label === undefined) return [{ text: plain ?? '', style }]
  // always shows the address: a link label can be misleading
  const address: Span = { text: url, style: [...style, 'underline', 'blue'] }
  if (label === url) return [address]
  return [...parseSpans(label, style), { text: ' (', style }, address, { text: ')', style }]
}

/** The length of the start of a line whose style no later text can change. It ends between two words. */
export function settledLength(text: string): number {
  let from = 0
  let settled = 0
  for (const { index, length } of [...findSpans(text), { index: text.length, length: 0 }]) {
    const opener = text.slice(from, index).search(OPENER)
    const isWaiting = opener >= 0 && text.length - from - opener < MAX_SPAN
    settled = Math.max(settled, afterLastBreak(text, from, isWaiting ? from + opener : index))
    if (isWaiting) break
    from = index + length
  }
  return settled
}

function findSpans(text: string): { index: number; length: number }[] {
  return Array.from(text.matchAll(SPAN), ({ index, 0: { length } }) => ({ index, length }))
}

/** The index after the last break between two indexes; 0 without a break. */
export function afterLastBreak(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (BREAK.test(text[at - 1] ?? '')) return at
  return 0
}
