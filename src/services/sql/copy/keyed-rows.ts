// Rows with a key of their own, which a copy adds to a target unless they are there.
import { changesOf, command, query, rowOf, type SqlRow, type SqlValue, type SqlWork, type Statement } from '../sql.ts'
import type { Kind, Skipped } from './copy-fact.ts'
import { valuesOf } from './table-pages.ts'

/** A table with such rows. */
export interface KeyedTable {
  /** How its rows are counted. */
  readonly kind: Kind
  /** Its name. */
  readonly table: string
  /** The columns of the key. */
  readonly key: readonly string[]
  /** The other columns that are copied. */
  readonly content: readonly string[]
  /** How many columns of the key name a series. If one of its rows cannot be copied, those after it are left out. */
  readonly series?: number | undefined
}

/** What became of rows. */
export interface AddedRows {
  /** How many rows are in the target now, or were there already. */
  readonly count: number
  /** The others. */
  readonly skipped: readonly Skipped[]
  /** The series of the last row that cannot be copied. */
  readonly blocked: string | undefined
}

const OTHER_VALUE =
  'The target has it with another value, which was not overwritten. Delete one of the two, or copy to an empty store.'

/** Adds rows to a table. */
export class KeyedRows {
  readonly #table: KeyedTable
  readonly #insert: Statement
  readonly #find: Statement

  constructor(given: KeyedTable) {
    const { table, key, content } = given
    const columns = [...key, ...content]
    this.#table = given
    this.#insert = command(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT (${key.join(', ')}) DO NOTHING`,
    )
    this.#find = query(
      `SELECT ${content.join(', ')} FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`,
    )
  }

  /** Adds the rows that are new, and compares the others. No row is overwritten. */
  *add(rows: readonly SqlRow[], blockedBefore: string | undefined): SqlWork<AddedRows> {
    const { key, content } = this.#table
    const skipped: Skipped[] = []
    let [count, blocked] = [0, blockedBefore]
    for (const row of rows) {
      if (blocked !== undefined && blocked === this.seriesOf(row)) continue
      const [ofKey, values] = [valuesOf(row, key), valuesOf(row, content)]
      const isNew = (yield* changesOf(this.#insert, ...ofKey, ...values)) > 0
      const stored = isNew ? undefined : yield* rowOf(this.#find, ...ofKey)
      if (isNew || (stored && areEqual(values, valuesOf(stored, content)))) count++
      else {
        skipped.push(this.#skip(row, OTHER_VALUE))
        blocked = this.seriesOf(row)
      }
    }
    return { count, skipped, blocked }
  }

  /** A row that the target refuses. */
  refuse(row: SqlRow, why: string): AddedRows {
    return { count: 0, skipped: [this.#skip(row, why)], blocked: this.seriesOf(row) }
  }

  /** How the rows are counted. */
  get kind(): Kind {
    return this.#table.kind
  }

  /** Names the series of a row; undefined if the table has none. */
  seriesOf(row: SqlRow): string | undefined {
    const { key, series } = this.#table
    return series === undefined ? undefined : JSON.stringify(valuesOf(row, key.slice(0, series)))
  }

  /** Names a row by its key. Encoded ids have no quotation marks of their own. */
  #skip(row: SqlRow, why: string): Skipped {
    const { kind, key } = this.#table
    const names = key.map((column) => column.replaceAll('"', '')).filter((name) => row[name] !== '')
    return { type: 'skipped', what: `${kind}: ${names.map((name) => `${name} "${row[name]}"`).join(', ')}`, why }
  }
}

/** Whether two lists of values are the same. */
export function areEqual(some: readonly SqlValue[], others: readonly SqlValue[]): boolean {
  return some.length === others.length && some.every((value, index) => isEqual(value, others[index] ?? null))
}

function isEqual(one: SqlValue, other: SqlValue): boolean {
  if (!(one instanceof Uint8Array) || !(other instanceof Uint8Array)) return one === other
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
