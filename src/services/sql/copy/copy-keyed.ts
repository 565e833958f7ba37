import { ToolwrightError } from '../../../core/error/error.ts'
import type { SqlDatabase, SqlRow, SqlValue, SqlWork } from '../sql.ts'
import type { CopyFact } from './copy-fact.ts'
import type { AddedRows, KeyedRows } from './keyed-rows.ts'
import type { KeyedRange } from './keyed-tables.ts'

/** From where to where. */
export interface Databases {
  /** The source. It is only read. */
  readonly from: SqlDatabase
  /** The target. */
  readonly to: SqlDatabase
}

/** Which rows of a range to copy. */
interface RangeOfOwner {
  /** The values of the condition of the range. */
  readonly owner?: readonly SqlValue[] | undefined
  /** Runs in each transaction, before rows are written. */
  readonly before?: (() => SqlWork<unknown>) | undefined
}

/** Copies the rows of a range that the target does not have. */
export async function* copyKeyed(
  { from, to }: Databases,
  range: KeyedRange,
  { owner = [], before }: RangeOfOwner = {},
): AsyncGenerator<CopyFact, void> {
  let after: readonly SqlValue[] | undefined = range.start
  let blocked: string | undefined
  while (after) {
    const start: readonly SqlValue[] = after
    const page = await from.read(() => range.pages.page(owner, start))
    const added = await addRows(to, range.rows, { rows: page.rows, blocked, before })
    if (added.count > 0) yield { type: 'copied', kind: range.rows.kind, count: added.count }
    yield* added.skipped
    blocked = added.blocked
    after = page.next
  }
}

interface Batch {
  readonly rows: readonly SqlRow[]
  readonly blocked: string | undefined
  readonly before: (() => SqlWork<unknown>) | undefined
}

/** Adds rows in one transaction. If the target refuses one of them, each is added by itself. */
async function addRows(to: SqlDatabase, table: KeyedRows, batch: Batch): Promise<AddedRows> {
  const { rows, blocked, before } = batch
  if (rows.length === 0) return { count: 0, skipped: [], blocked }
  try {
    return await to.write(function* () {
      if (before) yield* before()
      return yield* table.add(rows, blocked)
    })
  } catch (error) {
    if (!isRefused(error)) throw error
    const [row] = rows as [SqlRow] // at least one
    return rows.length === 1 ? table.refuse(row, error.message) : await addEach(to, table, batch)
  }
}

async function addEach(to: SqlDatabase, table: KeyedRows, { rows, blocked, before }: Batch): Promise<AddedRows> {
  let all: AddedRows = { count: 0, skipped: [], blocked }
  for (const row of rows) {
    const one = await addRows(to, table, { rows: [row], blocked: all.blocked, before })
    all = { count: all.count + one.count, skipped: [...all.skipped, ...one.skipped], blocked: one.blocked }
  }
  return all
}

/** Whether the target refuses these values, such as an id that is too long for its indexes. All other errors end the copy. */
export function isRefused(error: unknown): error is ToolwrightError {
  return error instanceof ToolwrightError && error.code === 'INVALID_REQUEST'
}
