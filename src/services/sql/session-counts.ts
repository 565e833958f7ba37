// Counts the sessions of an app by state. Only indexes of a few rows and keys are read, no log and no request.
import type { SessionCounts } from '../session/service.ts'
import { toText } from './escaped-text.ts'
import { FREE } from './session-rows.ts'
import { query, rowOf, type SqlDatabase, type SqlValue, type SqlWork, type Statement } from './sql.ts'

const SESSIONS = 'toolwright_sessions AS sessions'
const HAS_ITEMS =
  'EXISTS (SELECT 1 FROM toolwright_inbox AS inbox WHERE inbox.session = sessions.id AND body IS NOT NULL)'
/** Nothing keeps a worker away, and no holder has left work. */
const IS_FREE = `app = ? AND epoch = ${FREE} AND set_aside IS NULL`

const ALL = query(`SELECT count(*) AS count FROM ${SESSIONS} WHERE app = ?`)
const SET_ASIDE = query(
  `SELECT count(*) AS count FROM ${SESSIONS} WHERE app = ? AND epoch = ${FREE} AND set_aside IS NOT NULL`,
)
// CROSS JOIN starts with the sessions that have items or requests
const POSTED = query(
  `SELECT count(*) AS count
   FROM (SELECT DISTINCT session AS marked FROM toolwright_inbox WHERE body IS NOT NULL) AS posted CROSS JOIN ${SESSIONS}
   WHERE sessions.id = marked AND ${IS_FREE}`,
)
const WAITING = query(
  `SELECT count(*) AS count
   FROM (SELECT DISTINCT session AS marked FROM toolwright_pending) AS waiting CROSS JOIN ${SESSIONS}
   WHERE sessions.id = marked AND ${IS_FREE} AND NOT ${HAS_ITEMS}`,
)

/** Counts sessions by state. */
export class SessionCounting {
  readonly #database: SqlDatabase
  readonly #held: Statement

  constructor(database: SqlDatabase) {
    const { leaseTime } = database.dialect
    this.#database = database
    this.#held = query(
      `SELECT count(*) AS count,
         sum(CASE WHEN lease_epoch = epoch AND lease_until > ${leaseTime} AND lease_until <= ${leaseTime} + 2 * lease_ms
             THEN 1 ELSE 0 END) AS alive
       FROM ${SESSIONS} WHERE app = ? AND epoch <> ${FREE}`,
    )
  }

  /** The counts of an app, at one moment. Each session counts once. */
  *count(appName: string): SqlWork<SessionCounts> {
    const app = toText(appName)
    const time = this.#database.leaseTime()
    const held = yield* rowOf(this.#held, time, time, app)
    const running = Number(held?.alive ?? 0)
    const interrupted = Number(held?.count) - running
    const setAside = yield* numberOf(SET_ASIDE, app)
    const posted = yield* numberOf(POSTED, app)
    const waiting = yield* numberOf(WAITING, app)
    const all = yield* numberOf(ALL, app)
    const idle = Math.max(0, all - running - interrupted - setAside - posted - waiting)
    return { running, interrupted, waiting, posted, setAside, idle }
  }
}

function* numberOf(statement: Statement, ...values: SqlValue[]): SqlWork<number> {
  return Number((yield* rowOf(statement, ...values))?.count)
}
