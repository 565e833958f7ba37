import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJson, tryFromJson } from './escaped-text.ts'
import type { ReportDamage } from './report-skipped-rows.ts'
import type { SessionRow } from './session-row.ts'
import { changesOf, command, query, rowOf, type SqlWork, type Statement } from './sql.ts'

/** The folded state of a log up to a sequence number. */
export interface StoredCheckpoint {
  /** The sequence number of the latest entry in it. */
  readonly seq: number
  /** What the runner computed. */
  readonly state: JsonObject
}

/** The latest checkpoint of each session. The log stays the source of truth. */
export class CheckpointRows {
  readonly #reportDamage: ReportDamage
  readonly #find: Statement = query('SELECT seq, state FROM toolwright_checkpoints WHERE session = ?')
  readonly #save: Statement = command(
    `INSERT INTO toolwright_checkpoints (session, seq, state) VALUES (?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, state = excluded.state`,
  )

  constructor(reportDamage: ReportDamage) {
    this.#reportDamage = reportDamage
  }

  /** Finds the checkpoint of a session. A damaged one is reported and ignored: the log has all that is in it. */
  *find({ id, session, seq: lastSeq }: SessionRow): SqlWork<StoredCheckpoint | undefined> {
    const row = yield* rowOf(this.#find, id)
    if (!row) return undefined
    const { seq } = row
    const state = tryFromJson(row.state)
    const isSound = typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0 && seq <= lastSeq
    if (isSound && isRecord(state)) return { seq, state }
    this.#reportDamage(`The checkpoint of session "${session}"`)
    return undefined
  }

  /** Replaces the checkpoint of a session. */
  *save(session: number, seq: number, state: string): SqlWork<void> {
    yield* changesOf(this.#save, session, seq, state)
  }
}

/** Encodes the state of a checkpoint. */
export function encodeCheckpoint(state: JsonObject): string {
  return toJson(state, 'A checkpoint')
}
