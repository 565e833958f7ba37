import { checkId } from '../session/check-key.ts'
import { readPagePosition } from '../session/page.ts'
import { checkReport, findReportProblem } from '../worker/check-report.ts'
import type { SeenWorker, WorkerKey, WorkerReport, WorkerService } from '../worker/service.ts'
import { toJson, toText, tryFromJson } from './escaped-text.ts'
import { type DamageLogger, damageReporter, type ReportDamage } from './report-skipped-rows.ts'
import { changesOf, command, query, type SqlDatabase, type SqlRow, type Statement } from './sql.ts'

const TABLE = 'toolwright_workers'
const DELETE = command(`DELETE FROM ${TABLE} WHERE app = ? AND worker = ?`)

/** A report that is further in the future is from before a restart of the machine, with a clock that has begun again. */
const CLOCK_STEP_MS = 60_000

/** Stores in a SQL database which workers there are. Their reports have times of the clock that leases end on. */
export class SqlWorkerService implements WorkerService {
  /** The version of Toolwright in this process. */
  readonly version: string
  readonly #database: SqlDatabase
  readonly #reportDamage: ReportDamage
  readonly #save: Statement
  readonly #list: Statement
  readonly #sweep: Statement

  constructor(
    database: SqlDatabase,
    { version = 'unknown', logger }: { readonly version?: string; readonly logger: DamageLogger },
  ) {
    const { leaseTime } = database.dialect
    this.version = version
    this.#database = database
    this.#reportDamage = damageReporter(logger)
    this.#save = command(
      `INSERT INTO ${TABLE} (app, worker, seen_at, body) VALUES (?, ?, ${leaseTime}, ?)
       ON CONFLICT (app, worker) DO UPDATE SET seen_at = excluded.seen_at, body = excluded.body`,
    )
    this.#list = query(
      `SELECT worker, seen_at, body, ${leaseTime} AS seen_now FROM ${TABLE} WHERE app = ? ORDER BY seen_at DESC LIMIT ?`,
    )
    this.#sweep = command(
      `DELETE FROM ${TABLE} WHERE app = ? AND (seen_at < ${leaseTime} - ? OR seen_at > ${leaseTime} + ${CLOCK_STEP_MS})`,
    )
  }

  /** Stores what a worker reports. */
  async report(worker: WorkerReport): Promise<void> {
    checkReport(worker)
    const { appName, id } = worker
    const body = toJson(worker, 'A report of a worker')
    const values = [toText(appName), toText(id), this.#database.leaseTime(), body] as const
    await this.#database.write(() => changesOf(this.#save, ...values))
  }

  /** Removes a worker that ends. */
  async remove({ appName, id }: WorkerKey): Promise<void> {
    await this.#database.write(() => changesOf(DELETE, toText(appName), toText(id)))
  }

  /** The workers of an app, those that reported last first. */
  async list({ appName, limit }: { appName: string; limit: number }): Promise<SeenWorker[]> {
    checkId('appName', appName)
    readPagePosition({ limit }) // throws for a limit that is not valid
    const rows = await this.#database.readOne(this.#list, this.#database.leaseTime(), toText(appName), limit)
    return rows.flatMap((row) => this.#decode(row) ?? [])
  }

  /** Removes the workers of an app that have not reported for this time. */
  async sweep({ appName, unseenMs }: { appName: string; unseenMs: number }): Promise<number> {
    checkId('appName', appName)
    const time = this.#database.leaseTime()
    return await this.#database.write(() => changesOf(this.#sweep, toText(appName), time, unseenMs, time))
  }

  /** A damaged row is reported and skipped, so that it does not hide the other workers. */
  #decode({ worker, seen_at: seenAt, seen_now: now, body }: SqlRow): SeenWorker | undefined {
    const report = tryFromJson(body)
    if (findReportProblem(report) !== undefined) {
      this.#reportDamage(`The report of worker ${JSON.stringify(worker)}`)
      return undefined
    }
    return { ...(report as WorkerReport), unseenMs: unseen(Number(seenAt), Number(now)) } // its members are checked
  }
}

function unseen(seenAt: number, now: number): number {
  return seenAt > now + CLOCK_STEP_MS ? now : Math.max(0, now - seenAt)
}
