import { checkNewSchedule, checkSchedule, findScheduleProblem } from '../schedule/check-schedule.ts'
import type { ScheduleKey, ScheduleService, StoredSchedule } from '../schedule/service.ts'
import { checkFilter, checkId, checkKey } from '../session/check-key.ts'
import { readPagePosition, takePage } from '../session/page.ts'
import type { Page } from '../session/service.ts'
import { toJson, toText, tryFromJson } from './escaped-text.ts'
import { type DamageLogger, damageReporter, type ReportDamage } from './report-skipped-rows.ts'
import { changesOf, command, query, rowsOf, type SqlDatabase, type SqlRow } from './sql.ts'

const TABLE = 'toolwright_schedules'
const OF_ID = 'app = ? AND schedule = ?'
const FIND = query(`SELECT id, body FROM ${TABLE} WHERE ${OF_ID}`)
const INSERT = command(
  `INSERT INTO ${TABLE} (app, schedule, "user", session, wake_at, revision, body) VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (app, schedule) DO NOTHING`,
)
const REPLACE = command(
  `UPDATE ${TABLE} SET "user" = ?, session = ?, wake_at = ?, revision = ?, body = ? WHERE ${OF_ID} AND revision = ?`,
)
const DELETE = command(`DELETE FROM ${TABLE} WHERE ${OF_ID} AND revision = ?`)
// '' is the session of schedules without one: it is no valid id
const PAGE = query(
  `SELECT id, body FROM ${TABLE} WHERE app = ? AND "user" = coalesce(?, "user") AND session = coalesce(?, session) AND id > ?
   ORDER BY id LIMIT ?`,
)
const DUE = query(`SELECT id, body FROM ${TABLE} WHERE app = ? AND wake_at <= ? ORDER BY wake_at LIMIT ?`)
const DELETE_SESSION = command(`DELETE FROM ${TABLE} WHERE app = ? AND "user" = ? AND session = ?`)
const DELETE_USER = command(`DELETE FROM ${TABLE} WHERE app = ? AND "user" = ?`)

/** Stores schedules in a SQL database. */
export class SqlScheduleService implements ScheduleService {
  readonly #database: SqlDatabase
  readonly #reportDamage: ReportDamage

  constructor(database: SqlDatabase, { logger }: { readonly logger: DamageLogger }) {
    this.#database = database
    this.#reportDamage = damageReporter(logger)
  }

  /** A schedule; undefined if there is none, or if its row is damaged. */
  async getSchedule({ appName, id }: ScheduleKey): Promise<StoredSchedule | undefined> {
    checkId('appName', appName)
    checkId('The id of a schedule', id)
    const [row] = await this.#database.readOne(FIND, toText(appName), toText(id))
    return row && this.#decode(row)
  }

  /** Stores a schedule if the stored one has the expected revision. */
  async saveSchedule(schedule: StoredSchedule, expected: string | null): Promise<boolean> {
    checkSchedule(schedule)
    if (expected === null) checkNewSchedule(schedule)
    const { appName, id, userId, sessionId, wakeAt, revision } = schedule
    const key = [toText(appName), toText(id)] as const
    const owner = [toText(userId), sessionId === undefined ? '' : toText(sessionId)] as const
    const content = [wakeAt, toText(revision), toJson(schedule, 'A schedule')] as const
    const changed = await this.#database.write(() =>
      expected === null
        ? changesOf(INSERT, ...key, ...owner, ...content)
        : changesOf(REPLACE, ...owner, ...content, ...key, toText(expected)),
    )
    return changed > 0
  }

  /** Deletes a schedule if it has the expected revision. */
  async deleteSchedule({ appName, id }: ScheduleKey, expected: string): Promise<boolean> {
    return (await this.#database.write(() => changesOf(DELETE, toText(appName), toText(id), toText(expected)))) > 0
  }

  /** A part of the schedules, in the order of their creation. */
  async listSchedules(filter: Parameters<ScheduleService['listSchedules']>[0]): Promise<Page<StoredSchedule>> {
    checkFilter(filter)
    const after = readPagePosition(filter)
    const { appName, userId, sessionId, limit } = filter
    const owner = [userId, sessionId].map((one) => (one === undefined ? null : toText(one)))
    // one more: is there a next page?
    const rows = await this.#database.read(() => rowsOf(PAGE, toText(appName), ...owner, after, limit + 1))
    return takePage(rows, filter, (row) => {
      const item = this.#decode(row)
      return item && { item, position: Number(row.id), bytes: String(row.body).length }
    })
  }

  /** Schedules that a worker has to look at, the earliest first. */
  async dueSchedules({
    appName,
    now,
    limit,
  }: Parameters<ScheduleService['dueSchedules']>[0]): Promise<StoredSchedule[]> {
    checkId('appName', appName)
    const rows = await this.#database.readOne(DUE, toText(appName), now, limit)
    return rows.flatMap((row) => this.#decode(row) ?? [])
  }

  /** Deletes the schedules of a session. */
  async deleteSession(key: Parameters<ScheduleService['deleteSession']>[0]): Promise<void> {
    checkKey(key)
    const { appName, userId, sessionId } = key
    const values = [toText(appName), toText(userId), toText(sessionId)] as const
    await this.#database.write(() => changesOf(DELETE_SESSION, ...values))
  }

  /** Deletes the schedules of a user. */
  async deleteUser(user: Parameters<ScheduleService['deleteUser']>[0]): Promise<void> {
    checkFilter(user)
    checkId('userId', user.userId)
    await this.#database.write(() => changesOf(DELETE_USER, toText(user.appName), toText(user.userId)))
  }

  /** A damaged row is reported and skipped, so that it does not keep the others from their runs. */
  #decode({ id, body }: SqlRow): StoredSchedule | undefined {
    const schedule = tryFromJson(body)
    if (findScheduleProblem(schedule) === undefined) return schedule as StoredSchedule // its members are checked
    this.#reportDamage(`The schedule in row ${id}`)
    return undefined
  }
}
