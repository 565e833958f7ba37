// Reads rows of a table in order, in pages of a bounded size: a store may be larger than the memory.
import { MAX_PIECE_BYTES } from '../read-in-turn.ts'
import { countRowsWithin } from '../rows-within.ts'
import { query, rowsOf, type SqlRow, type SqlValue, type SqlWork, type Statement } from '../sql.ts'

/** Which rows are read, and in which order. */
export interface RowRange {
  /** The table. */
  readonly table: string
  /** Which of its rows, as a condition with a `?` for each value of `owner`. */
  readonly where: string
  /** The columns that are read. */
  readonly columns: readonly string[]
  /** The columns that order the rows: a page starts after their values in the last row of the page before. */
  readonly position: readonly string[]
  /** The length of a row, as an expression. */
  readonly bytes: string
}

/** Some rows. */
export interface RowPage {
  /** The rows in order. */
  readonly rows: readonly SqlRow[]
  /** Where the next page starts; undefined if there is none. */
  readonly next: readonly SqlValue[] | undefined
  /** Their length. */
  readonly bytes: number
}

/** The most rows of a page. */
const MAX_ROWS = 500

const NOTHING: RowPage = { rows: [], next: undefined, bytes: 0 }

/** The pages of a range. */
export class TablePages {
  readonly #position: readonly string[]
  readonly #sizes: Statement
  readonly #rows: Statement

  constructor({ table, where, columns, position, bytes }: RowRange) {
    const order = position.join(', ')
    const from = `FROM ${table} WHERE ${where} AND (${order}) > (${position.map(() => '?').join(', ')})`
    this.#position = position
    this.#sizes = query(`SELECT ${bytes} AS bytes ${from} ORDER BY ${order} LIMIT ?`)
    this.#rows = query(`SELECT ${[...new Set([...position, ...columns])].join(', ')} ${from} ORDER BY ${order} LIMIT ?`)
  }

  /** Reads the rows after a position, up to the one that reaches `maxBytes`. */
  *page(owner: readonly SqlValue[], after: readonly SqlValue[], maxBytes: number = MAX_PIECE_BYTES): SqlWork<RowPage> {
    const sizes = yield* rowsOf(this.#sizes, ...owner, ...after, MAX_ROWS)
    const count = countRowsWithin(sizes, maxBytes)
    if (count === 0) return NOTHING
    const rows = yield* rowsOf(this.#rows, ...owner, ...after, count)
    const last = rows.at(-1)
    const isLast = count === sizes.length && count < MAX_ROWS
    const bytes = sizes.slice(0, count).reduce((sum, row) => sum + Number(row.bytes), 0)
    return { rows, next: isLast || !last ? undefined : valuesOf(last, this.#position), bytes }
  }
}

/** The values of a row in the order of these columns. */
export function valuesOf(row: SqlRow, columns: readonly string[]): SqlValue[] {
  return columns.map((column) => row[column.replaceAll('"', '')] as SqlValue) // drivers return nothing else
}
