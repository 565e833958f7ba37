/** Scripts and symbols that terminals draw two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** How many columns a terminal draws this text in; it holds no control characters. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let columns = 0
  for (const { segment } of graphemes.segment(text)) columns += widthOf(segment)
  return columns
}

/** At most `width` columns: a longer text loses its end. */
export function cut(text: string, width: number): string {
  const head = text.slice(0, width * 8) // bounds the work: a grapheme can have any length
  if (head.length === text.length && columnsOf(text) <= width) return text
  let kept = ''
  let columns = 1 // of the ellipsis
  for (const { segment } of graphemes.segment(head)) {
    columns += widthOf(segment)
    if (columns > width) break
    kept += segment
  }
  return `${kept}…`
}

/** Rows of at most `width` columns; further rows start with `hang`, so that none looks like a line of its own. */
export function hardWrap(line: string, width: number, hang: string): string {
  if (columnsOf(line) <= width) return line
  let rows = ''
  let columns = 0
  for (const { segment } of graphemes.segment(line)) {
    const wide = widthOf(segment)
    if (columns + wide > width) {
      rows += `\n${hang}`
      columns = hang.length
    }
    rows += segment
    columns += wide
  }
  return rows
}

function widthOf(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2
  return /^\p{M}/u.test(grapheme) ? 0 : 1
}
