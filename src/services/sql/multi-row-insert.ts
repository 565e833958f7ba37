import { changesOf, command, type SqlValue, type SqlWork, type Statement } from './sql.ts'

/** The most rows of one statement. */
const MAX_ROWS = 50

/** An insert of any number of rows in few statements: each is a round trip to a database server. */
export class MultiRowInsert {
  readonly #into: string
  readonly #onConflict: string
  readonly #values: string
  /** By their number of rows. */
  readonly #statements: (Statement | undefined)[] = []

  /** `into`: the table with its columns. `onConflict`: what happens to rows that exist. */
  constructor(into: string, columns: number, onConflict: string) {
    this.#into = into
    this.#onConflict = onConflict
    this.#values = `(${Array(columns).fill('?').join(', ')})`
  }

  /** Inserts rows and returns how many were inserted or changed. */
  *insert(rows: readonly (readonly SqlValue[])[]): SqlWork<number> {
    if (rows.length <= MAX_ROWS) return rows.length === 0 ? 0 : yield* this.#insertPiece(rows)
    let changes = 0
    for (let from = 0; from < rows.length; from += MAX_ROWS)
      changes += yield* this.#insertPiece(rows.slice(from, from + MAX_ROWS))
    return changes
  }

  #insertPiece(rows: readonly (readonly SqlValue[])[]): SqlWork<number> {
    return changesOf(this.#statementFor(rows.length), ...rows.flat())
  }

  #statementFor(count: number): Statement {
    const known = this.#statements[count]
    if (known) return known
    const values = Array(count).fill(this.#values).join(', ')
    const made = command(`INSERT INTO ${this.#into} VALUES ${values} ${this.#onConflict}`)
    this.#statements[count] = made
    return made
  }
}
