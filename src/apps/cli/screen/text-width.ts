/** Scripts and symbols that terminals draw two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The number of terminal columns of a text without control characters. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let columns = 0
  for (const { segment } of graphemes.segment(text)) columns += graphemeWidth(segment)
  return columns
}

/** Truncates text to `width` columns, with an ellipsis at its end. */
export function truncate(text: string, width: number): string {
  const head = text.slice(0, width * 8) // bounds the work: a grapheme can have any length
  if (head.length === text.length && textWidth(text) <= width) return text
  let kept = ''
  let columns = 1 // of the ellipsis
  for (const { segment } of graphemes.segment(head)) {
    columns += graphemeWidth(segment)
    if (columns > width) break
    kept += segment
  }
  return `${kept}…`
}

/** Splits a line into rows of `width` columns. Rows after the first start with `hang`, so they do not look like new lines. */
export function hardWrap(line: string, width: number, hang: string): string {
  if (textWidth(line) <= width) return line
  let rows = ''
  let columns = 0
  for (const { segment } of graphemes.segment(line)) {
    const wide = graphemeWidth(segment)
    if (columns + wide > width) {
      rows += `\n${hang}`
      columns = hang.length
    }
    rows += segment
    columns += wide
  }
  return rows
}

function graphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2
  return /^\p{M}/u.test(grapheme) ? 0 : 1
}
