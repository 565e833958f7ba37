// Text of a model on its way to the terminal, as it streams. What was written is never drawn again: a word is written when
// it is whole and its style is known, a table when its last row is.
import { columnsOf } from './columns.ts'
import {
  afterLastBreak,
  type Block,
  BREAK,
  blockOf,
  fenceOf,
  isRule,
  isUndecided,
  settledLength,
  spansOf,
} from './markdown.ts'
import type { Paint } from './paint.ts'
import { isTableRow, tableOf } from './table.ts'
import { visible } from './visible.ts'

export interface FlowOptions {
  /** Rows are wrapped to it; without it text is written as it is, at once. */
  readonly width?: number | undefined
  /** Show markdown in styles. */
  readonly isMarkdown: boolean
  readonly paint: Paint
}

/** Text that is held back longer than this is written as it is. */
const MOST_HELD = 1_000
const MOST_ROWS = 200
const CODE_INDENT = '  '

/** Spaces, characters that are words of their own, and words. */
const WORDS = new RegExp(`[\\t ]+|${BREAK.source}|(?:(?!${BREAK.source}).)+`, 'gu')

interface Word {
  readonly shown: string
  readonly columns: number
}

const NO_WORD: Word = { shown: '', columns: 0 }

export class TextFlow {
  readonly #options: FlowOptions
  readonly #indent: string
  #held = ''
  /** Half a character, or half a line end, that came last. */
  #half = ''
  /** What the line is; undefined while nothing of it was written. */
  #block: Block | undefined
  /** Columns of the row that are written. */
  #column = 0
  #space = ''
  #fence: string | undefined
  #table: string[] = []

  constructor(options: FlowOptions, indent = '') {
    this.#options = options
    this.#indent = indent
  }

  /** What can be written now. */
  write(text: string): string {
    const whole = this.#half + text
    this.#half = /[\r\ud800-\udbff]$/.exec(whole)?.[0] ?? ''
    const lines = visible(whole.slice(0, whole.length - this.#half.length)).split('\n')
    let out = ''
    for (const [at, line] of lines.entries()) {
      this.#held += line
      if (at < lines.length - 1) out += this.#endLine()
    }
    const canSettle =
      this.#options.width === undefined || this.#held.length >= MOST_HELD || BREAK.test(lines.at(-1) ?? '')
    return this.#held === '' || !canSettle ? out : out + this.#part()
  }

  /** Writes what was held back and ends the row. A block of code goes on after it. */
  end(): string {
    this.#held += visible(this.#half)
    this.#half = ''
    const isEmpty = this.#held === '' && !this.isMidLine
    return (isEmpty ? '' : this.#endLine()) + this.#endTable()
  }

  get isMidLine(): boolean {
    return this.#block !== undefined
  }

  /** The rest of a line. */
  #endLine(): string {
    const line = this.#held
    this.#held = ''
    const out = this.#block ? `${this.#text(line)}\n` : this.#line(line)
    this.#block = undefined
    this.#column = 0
    this.#space = ''
    return out
  }

  /** A whole line of which nothing was written. */
  #line(line: string): string {
    if (!this.#options.isMarkdown) return line === '' ? '\n' : `${this.#begin(line)}\n`
    const fence = fenceOf(line)
    if (this.#fence !== undefined) {
      if (fence === undefined || !fence.startsWith(this.#fence)) return this.#code(line)
      this.#fence = undefined
      return ''
    }
    if (isTableRow(line)) {
      const isFull = this.#table.push(line.replaceAll('\t', '    ')) >= MOST_ROWS
      return isFull ? this.#endTable() : ''
    }
    const before = this.#endTable()
    this.#fence = fence
    if (fence !== undefined) return before
    if (isRule(line))
      return `${before}${this.#indent}${this.#options.paint(['dim'], '─'.repeat(Math.min(this.#room, 40)))}\n`
    return `${before}${line.trim() === '' ? '' : this.#begin(line)}\n`
  }

  /** What can be written of a line that is not whole. */
  #part(): string {
    const { width, isMarkdown } = this.#options
    const isHeld = this.#held.length < MOST_HELD
    if (isMarkdown && !this.#block && isHeld) {
      if (this.#fence !== undefined || isUndecided(this.#held) || isTableRow(this.#held)) return ''
    }
    const settled = !isHeld || width === undefined ? this.#held.length : this.#settled()
    if (settled === 0) return ''
    const text = this.#held.slice(0, settled)
    this.#held = this.#held.slice(settled)
    if (this.#block) return this.#text(text)
    return this.#endTable() + this.#begin(text)
  }

  #settled(): number {
    return this.#options.isMarkdown ? settledLength(this.#held) : afterLastBreak(this.#held, 0, this.#held.length)
  }

  #begin(text: string): string {
    const block = this.#options.isMarkdown && this.#fence === undefined ? blockOf(text) : blockOf('')
    this.#block = block
    this.#column = columnsOf(block.bullet)
    return this.#indent + this.#options.paint(['dim'], block.bullet) + this.#text(text.slice(block.taken))
  }

  #text(text: string): string {
    const { width, isMarkdown, paint } = this.#options
    if (width === undefined) return text
    const style = this.#block?.style ?? []
    const spans = isMarkdown && this.#fence === undefined ? spansOf(text, style) : [{ text, style }]
    let out = ''
    let word = NO_WORD
    for (const span of spans) {
      for (const [piece] of span.text.matchAll(WORDS)) {
        const isBreak = BREAK.test(piece)
        if (isBreak) out += this.#put(word)
        if (isBreak) word = NO_WORD
        if (/^[\t ]/.test(piece)) this.#space += piece.replaceAll('\t', '    ')
        else if (isBreak) out += this.#put({ shown: paint(span.style, piece), columns: columnsOf(piece) })
        else word = { shown: word.shown + paint(span.style, piece), columns: word.columns + columnsOf(piece) }
      }
    }
    return out + this.#put(word)
  }

  /** Writes a word where there is room for it. */
  #put({ shown, columns }: Word): string {
    if (shown === '') return ''
    const hang = this.#block?.hang ?? ''
    const space = this.#space
    this.#space = ''
    const fits = this.#column + space.length + columns <= this.#room
    if (fits || this.#column <= columnsOf(hang)) {
      this.#column += space.length + columns
      return space + shown
    }
    this.#column = columnsOf(hang) + columns
    return `\n${this.#indent}${this.#options.paint(['dim'], hang)}${shown}`
  }

  #code(line: string): string {
    return `${this.#indent}${CODE_INDENT}${this.#options.paint(['cyan'], line.replaceAll('\t', '    '))}\n`
  }

  #endTable(): string {
    if (this.#table.length === 0) return ''
    const rows = tableOf(this.#table, this.#room, this.#options.paint)
    this.#table = []
    return rows.map((row) => `${this.#indent}${row}\n`).join('')
  }

  get #room(): number {
    return Math.max((this.#options.width ?? 80) - this.#indent.length, 10)
  }
}
