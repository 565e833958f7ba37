// What is stored of a session, in sections that are read and written a piece at a time.
import { MultiRowInsert } from '../multi-row-insert.ts'
import { MAX_PIECE_BYTES } from '../read-in-turn.ts'
import type { SqlRow, SqlValue, SqlWork } from '../sql.ts'
import type { StateOwner } from '../state-rows.ts'
import { TablePages, valuesOf } from './table-pages.ts'

/** The rows of one table that belong to a session. */
export interface Section {
  /** The columns that are copied, and compared. */
  readonly columns: readonly string[]
  /** The values that tell to whom rows belong. */
  readonly owner: (session: StateOwner) => readonly SqlValue[]
  /** Reads the rows. */
  readonly pages: TablePages
  /** Writes rows: the values of `owner`, then the columns. */
  readonly insert: MultiRowInsert
}

/** Where a piece starts. */
export interface PiecePosition {
  /** The index of the section. */
  readonly section: number
  /** After which row of it. */
  readonly after: number
}

/** Some of the rows of a session. */
export interface Piece {
  /** The rows by section. */
  readonly rows: readonly { readonly section: Section; readonly rows: readonly SqlRow[] }[]
  /** Where the next piece starts; undefined if there is none. */
  readonly next: PiecePosition | undefined
}

/** Where the first piece starts. */
export const FIRST: PiecePosition = { section: 0, after: 0 }

const ofSession = { ownerColumns: ['session'], owner: ({ id }: StateOwner) => [id] }
const body = 'octet_length(body)'

/** The log. */
export const LOG: Section = section({
  ...ofSession,
  table: 'toolwright_entries',
  position: 'seq',
  columns: ['seq', 'event_id', 'body'],
  bytes: body,
})

const STATE = section({
  table: 'toolwright_state',
  ownerColumns: ['app', '"user"', 'session'],
  owner: ({ app, user, id }) => [app, user, id],
  position: 'rowid',
  columns: ['key', 'value'],
  bytes: 'octet_length(value)',
})

const INBOX = section({
  ...ofSession,
  table: 'toolwright_inbox',
  position: 'id',
  columns: ['item_id', 'body'],
  bytes: `coalesce(${body}, 0)`,
})

const PENDING = section({
  ...ofSession,
  table: 'toolwright_pending',
  position: 'id',
  columns: ['since', 'body'],
  bytes: body,
})

/** All that is copied of a session. A checkpoint is made again by the next runs; a lease belongs to one database. */
export const COPIED: readonly Section[] = [LOG, STATE, INBOX, PENDING]

/** What tells two sessions apart. The inbox and the pending requests follow from the log. */
export const COMPARED: readonly Section[] = [LOG, STATE]

/** Reads the rows of a session after a position, up to the one that reaches the size of a piece. */
export function* readPiece(sections: readonly Section[], session: StateOwner, from: PiecePosition): SqlWork<Piece> {
  const rows: { section: Section; rows: readonly SqlRow[] }[] = []
  let left = MAX_PIECE_BYTES
  let { section: index, after } = from
  for (; index < sections.length; index++, after = 0) {
    if (left <= 0) return { rows, next: { section: index, after } }
    const one = sections[index] as Section // below the length
    const page = yield* one.pages.page(one.owner(session), [after], left)
    rows.push({ section: one, rows: page.rows })
    if (page.next) return { rows, next: { section: index, after: Number(page.next[0]) } }
    left -= page.bytes
  }
  return { rows, next: undefined }
}

/** The values of rows, each with those of its owner. */
export function insertedValues({ columns, owner }: Section, session: StateOwner, rows: readonly SqlRow[]): SqlValue[] {
  return rows.flatMap((row) => [...owner(session), ...valuesOf(row, columns)])
}

interface SectionOptions {
  readonly table: string
  readonly ownerColumns: readonly string[]
  readonly owner: Section['owner']
  readonly position: string
  readonly columns: readonly string[]
  readonly bytes: string
}

function section({ table, ownerColumns, owner, position, columns, bytes }: SectionOptions): Section {
  const where = ownerColumns.map((column) => `${column} = ?`).join(' AND ')
  const all = [...ownerColumns, ...columns]
  return {
    columns,
    owner,
    pages: new TablePages({ table, where, columns, position: [position], bytes }),
    insert: new MultiRowInsert(`${table} (${all.join(', ')})`, all.length, ''),
  }
}
