import { command, type SqlValue, type SqlWork, type Statement } from './sql.ts'

/** The most rows of one statement. */
const MAX_ROWS = 50

/** An insert of any number of rows in few statements: each is a round trip to a database server. */
export class MultiRowInsert {
  readonly #into: string
  readonly #columns: number
  readonly #onConflict: string
  /** By their number of rows. */
  readonly #statements: (Statement | undefined)[] = []

  /** `into`: the table with its columns. `onConflict`: what happens to rows that exist. */
  constructor(into: string, columns: number, onConflict: string) {
    this.#into = into
    this.#columns = columns
    this.#onConflict = onConflict
  }

  /** Inserts rows, given as their values one after another, and returns how many were inserted or changed. */
  *insert(values: readonly SqlValue[]): SqlWork<number> {
    const count = values.length / this.#columns
    if (count <= MAX_ROWS) return count === 0 ? 0 : (yield { statement: this.#statementFor(count), values }).changes
    let changes = 0
    for (let from = 0; from < values.length; from += MAX_ROWS * this.#columns)
      changes += yield* this.insert(values.slice(from, from + MAX_ROWS * this.#columns))
    return changes
  }

  #statementFor(count: number): Statement {
    const known = this.#statements[count]
    if (known) return known
    const row = `(${Array(this.#columns).fill('?').join(', ')})`
    const rows = Array(count).fill(row).join(', ')
    const made = command(`INSERT INTO ${this.#into} VALUES ${rows} ${this.#onConflict}`)
    this.#statements[count] = made
    return made
  }
}
