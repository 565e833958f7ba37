// The tables whose rows are copied one by one. Ids that a database gives itself are not copied: the target gives its own.
import type { SqlValue } from '../sql.ts'
import { KeyedRows, type KeyedTable } from './keyed-rows.ts'
import { TablePages } from './table-pages.ts'

/** Rows of a table, and how to copy them. */
export interface KeyedRange {
  /** Adds rows to the target. */
  readonly rows: KeyedRows
  /** Reads rows of the source. */
  readonly pages: TablePages
  /** Where the first page starts. */
  readonly start: readonly SqlValue[]
}

const OF_SESSION = 'app = ? AND "user" = ? AND session = ?'

/** The pins of apps. */
export const PINS: KeyedRange = range(
  { kind: 'pins', table: 'toolwright_pins', key: ['app', 'name'], content: ['hash'] },
  { where: '1 = 1', position: ['app', 'name'], start: ['', ''], bytes: 'octet_length(hash)' },
)

/** The credentials, encrypted as they are. */
export const CREDENTIALS: KeyedRange = range(
  { kind: 'credentials', table: 'toolwright_credentials', key: ['app', '"user"', 'key'], content: ['sealed'] },
  { where: '1 = 1', position: ['generation'], start: [0], bytes: 'octet_length(sealed)' },
)

const STATE: KeyedTable = {
  kind: 'state values',
  table: 'toolwright_state',
  key: ['app', '"user"', 'session', 'key'],
  content: ['value'],
}

/** The state of one user or app, in the order in which its keys were first stored. */
export const SHARED_STATE: KeyedRange = range(STATE, {
  where: 'app = ? AND "user" = ? AND session = 0',
  position: ['rowid'],
  start: [0],
  bytes: 'octet_length(value)',
})

// A version after one that is missing or another one would become the latest of the artifact.
const ARTIFACTS: KeyedTable = {
  kind: 'artifact versions',
  table: 'toolwright_artifacts',
  key: ['app', '"user"', 'session', 'filename', 'version'],
  content: ['mime_type', 'created_at', 'metadata', 'part', 'bytes'],
  series: 4,
}
const ARTIFACT_BYTES = 'octet_length(part) + coalesce(octet_length(bytes), 0)'

/** The artifacts of a session. */
export const ARTIFACTS_OF_SESSION: KeyedRange = range(ARTIFACTS, {
  where: OF_SESSION,
  position: ['filename', 'version'],
  start: ['', -1],
  bytes: ARTIFACT_BYTES,
})

/** The artifacts of users, and those of sessions that do not exist. */
export const OTHER_ARTIFACTS: KeyedRange = range(ARTIFACTS, {
  where: withoutSession('toolwright_artifacts'),
  position: ARTIFACTS.key,
  start: ['', '', '', '', -1],
  bytes: ARTIFACT_BYTES,
})

const SCHEDULES: KeyedTable = {
  kind: 'schedules',
  table: 'toolwright_schedules',
  key: ['app', 'schedule'],
  content: ['"user"', 'session', 'wake_at', 'revision', 'body'],
}
const BY_ID = { position: ['id'], start: [0], bytes: 'octet_length(body)' }

/** The schedules of a session. */
export const SCHEDULES_OF_SESSION: KeyedRange = range(SCHEDULES, { where: OF_SESSION, ...BY_ID })

/** The schedules that make a session for each run, or name one that does not exist. */
export const OTHER_SCHEDULES: KeyedRange = range(SCHEDULES, { where: withoutSession('toolwright_schedules'), ...BY_ID })

interface RangeOptions {
  readonly where: string
  readonly position: readonly string[]
  readonly start: readonly SqlValue[]
  readonly bytes: string
}

function range(table: KeyedTable, { where, position, start, bytes }: RangeOptions): KeyedRange {
  const columns = [...table.key, ...table.content]
  return {
    rows: new KeyedRows(table),
    pages: new TablePages({ table: table.table, where, columns, position, bytes }),
    start,
  }
}

function withoutSession(table: string): string {
  return `NOT EXISTS (
    SELECT 1 FROM toolwright_sessions AS sessions WHERE sessions.app = ${table}.app
      AND sessions."user" = ${table}."user" AND sessions.session = ${table}.session)`
}
