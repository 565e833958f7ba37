import { NOT_A_COPY } from '../session-row.ts'
import { query, rowOf, type SqlDatabase, type SqlWork, type Statement } from '../sql.ts'
import type { Kind } from './copy-fact.ts'

const COMPLETE = `(SELECT id FROM toolwright_sessions WHERE ${NOT_A_COPY})`
const OF_SESSIONS = `WHERE session IN ${COMPLETE}`

/** What is counted. Rows of unfinished copies are left out. */
const COUNTS: readonly (readonly [Kind, Statement])[] = [
  ['sessions', count('toolwright_sessions', `WHERE ${NOT_A_COPY}`)],
  ['entries', count('toolwright_entries', OF_SESSIONS)],
  ['state values', count('toolwright_state', `WHERE session = 0 OR session IN ${COMPLETE}`)],
  ['inbox items', count('toolwright_inbox', OF_SESSIONS)],
  ['pending requests', count('toolwright_pending', OF_SESSIONS)],
  ['artifact versions', count('toolwright_artifacts')],
  ['credentials', count('toolwright_credentials')],
  ['pins', count('toolwright_pins')],
  ['memories', count('toolwright_memories')],
  ['schedules', count('toolwright_schedules')],
]

/** How much a store holds, by kind. */
export type StoreCounts = ReadonlyMap<Kind, number>

/** Counts what a store holds, at one moment. */
export function countRows(database: SqlDatabase): Promise<StoreCounts> {
  return database.read(function* (): SqlWork<StoreCounts> {
    const counts = new Map<Kind, number>()
    for (const [kind, statement] of COUNTS) counts.set(kind, Number((yield* rowOf(statement))?.count))
    return counts
  })
}

function count(table: string, where = ''): Statement {
  return query(`SELECT count(*) AS count FROM ${table} ${where}`)
}
