// Formats streamed model text for the terminal. Written text is never redrawn: a word is written when it is complete and
// its style is known, a table after its last row.
import { escapeText } from '../../../core/base/escape.ts'
import {
  afterLastBreak,
  type Block,
  BREAK,
  isRule,
  mayBecomeBlock,
  parseBlock,
  parseFence,
  parseSpans,
  settledLength,
} from './markdown.ts'
import { formatTable, isTableRow } from './markdown-table.ts'
import type { Paint } from './paint.ts'
import { textWidth } from './text-width.ts'

/** Options of `StreamingText`. */
interface StreamingTextOptions {
  /** Columns to wrap to. Default: text is written unchanged, without delay. */
  readonly width?: number | undefined
  /** Render markdown as styles. */
  readonly isMarkdown: boolean
  /** Applies styles. */
  readonly paint: Paint
}

/** Held text that is longer is written without waiting for its style. */
const MAX_HELD = 1_000
const MAX_TABLE_ROWS = 200
const CODE_INDENT = '  '

/** Matches spaces, single characters that may be wrapped after, and words. */
const WORDS = new RegExp(`[\\t ]+|${BREAK.source}|(?:(?!${BREAK.source}).)+`, 'gu')

interface Word {
  readonly shown: string
  readonly columns: number
}

const NO_WORD: Word = { shown: '', columns: 0 }

/** Wraps and styles text as it streams. */
export class StreamingText {
  readonly #options: StreamingTextOptions
  readonly #indent: string
  #held = ''
  /** The first half of a surrogate pair or of a CRLF at the end of the last chunk. */
  #partialCharacter = ''
  /** The block that the current line belongs to; undefined while nothing of the line was written. */
  #block: Block | undefined
  /** Written columns of the current row. */
  #column = 0
  #space = ''
  #fence: string | undefined
  #table: string[] = []

  constructor(options: StreamingTextOptions, indent = '') {
    this.#options = options
    this.#indent = indent
  }

  /** Adds text and returns the part that can be written now. */
  write(text: string): string {
    const whole = this.#partialCharacter + text
    this.#partialCharacter = /[\r\ud800-\udbff]$/.exec(whole)?.[0] ?? ''
    const lines = escapeText(whole.slice(0, whole.length - this.#partialCharacter.length)).split('\n')
    let out = ''
    for (const [at, line] of lines.entries()) {
      this.#held += line
      if (at < lines.length - 1) out += this.#endLine()
    }
    const canSettle =
      this.#options.width === undefined || this.#held.length >= MAX_HELD || BREAK.test(lines.at(-1) ?? '')
    return this.#held === '' || !canSettle ? out : out + this.#writeSettled()
  }

  /** Returns the held text and ends the row. An open code block continues after it. */
  end(): string {
    this.#held += escapeText(this.#partialCharacter)
    this.#partialCharacter = ''
    const isEmpty = this.#held === '' && !this.isMidLine
    return (isEmpty ? '' : this.#endLine()) + this.#writeTable()
  }

  /** Part of the current line was written. */
  get isMidLine(): boolean {
    return this.#block !== undefined
  }

  /** Writes the rest of the current line. */
  #endLine(): string {
    const line = this.#held
    this.#held = ''
    const out = this.#block ? `${this.#wrapText(line)}\n` : this.#writeLine(line)
    this.#block = undefined
    this.#column = 0
    this.#space = ''
    return out
  }

  /** Writes a complete line of which nothing was written before. */
  #writeLine(line: string): string {
    if (!this.#options.isMarkdown) return line === '' ? '\n' : `${this.#startLine(line)}\n`
    const fence = parseFence(line)
    if (this.#fence !== undefined) {
      if (fence === undefined || !fence.startsWith(this.#fence)) return this.#writeCode(line)
      this.#fence = undefined
      return ''
    }
    if (isTableRow(line)) {
      const isFull = this.#table.push(line.replaceAll('\t', '    ')) >= MAX_TABLE_ROWS
      return isFull ? this.#writeTable() : ''
    }
    const before = this.#writeTable()
    this.#fence = fence
    if (fence !== undefined) return before
    if (isRule(line))
      return `${before}${this.#indent}${this.#options.paint(['dim'], '─'.repeat(Math.min(this.#availableWidth, 40)))}\n`
    return `${before}${line.trim() === '' ? '' : this.#startLine(line)}\n`
  }

  /** Writes the part of an incomplete line whose style can no longer change. */
  #writeSettled(): string {
    const { width, isMarkdown } = this.#options
    const isHeld = this.#held.length < MAX_HELD
    if (isMarkdown && !this.#block && isHeld) {
      if (this.#fence !== undefined || mayBecomeBlock(this.#held) || isTableRow(this.#held)) return ''
    }
    const settled = !isHeld || width === undefined ? this.#held.length : this.#settledLength()
    if (settled === 0) return ''
    const text = this.#held.slice(0, settled)
    this.#held = this.#held.slice(settled)
    if (this.#block) return this.#wrapText(text)
    return this.#writeTable() + this.#startLine(text)
  }

  #settledLength(): number {
    return this.#options.isMarkdown ? settledLength(this.#held) : afterLastBreak(this.#held, 0, this.#held.length)
  }

  #startLine(text: string): string {
    const block = this.#options.isMarkdown && this.#fence === undefined ? parseBlock(text) : parseBlock('')
    this.#block = block
    this.#column = textWidth(block.bullet)
    return this.#indent + this.#options.paint(['dim'], block.bullet) + this.#wrapText(text.slice(block.markerLength))
  }

  #wrapText(text: string): string {
    const { width, isMarkdown, paint } = this.#options
    if (width === undefined) return text
    const style = this.#block?.style ?? []
    const spans = isMarkdown && this.#fence === undefined ? parseSpans(text, style) : [{ text, style }]
    let out = ''
    let word = NO_WORD
    for (const span of spans) {
      for (const [piece] of span.text.matchAll(WORDS)) {
        const isBreak = BREAK.test(piece)
        if (isBreak) out += this.#writeWord(word)
        if (isBreak) word = NO_WORD
        if (/^[\t ]/.test(piece)) this.#space += piece.replaceAll('\t', '    ')
        else if (isBreak) out += this.#writeWord({ shown: paint(span.style, piece), columns: textWidth(piece) })
        else word = { shown: word.shown + paint(span.style, piece), columns: word.columns + textWidth(piece) }
      }
    }
    return out + this.#writeWord(word)
  }

  /** Writes a word, on a new row when it does not fit. */
  #writeWord({ shown, columns }: Word): string {
    if (shown === '') return ''
    const hang = this.#block?.hang ?? ''
    const space = this.#space
    this.#space = ''
    const fits = this.#column + space.length + columns <= this.#availableWidth
    if (fits || this.#column <= textWidth(hang)) {
      this.#column += space.length + columns
      return space + shown
    }
    this.#column = textWidth(hang) + columns
    return `\n${this.#indent}${this.#options.paint(['dim'], hang)}${shown}`
  }

  #writeCode(line: string): string {
    return `${this.#indent}${CODE_INDENT}${this.#options.paint(['cyan'], line.replaceAll('\t', '    '))}\n`
  }

  #writeTable(): string {
    if (this.#table.length === 0) return ''
    const rows = formatTable(this.#table, this.#availableWidth, this.#options.paint)
    this.#table = []
    return rows.map((row) => `${this.#indent}${row}\n`).join('')
  }

  get #availableWidth(): number {
    return Math.max((this.#options.width ?? 80) - this.#indent.length, 10)
  }
}
