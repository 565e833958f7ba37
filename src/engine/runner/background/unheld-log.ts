import type { JsonObject } from '../../../core/base/json.ts'
import type { Entry } from '../../../core/event/event.ts'
import type { Checkpoint, HeldLog, SessionKey, StateReader } from '../../../services/session/service.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { type EngineCall, findEngineCall } from '../inbox/posted-attempts.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { HeldSession } from '../session/held-session.ts'
import { openCheckpoint } from '../session/open-checkpoint.ts'
import { readStoredLog } from '../sessions/stored-log.ts'

type Parts = Pick<RunFactory, 'services' | 'tree'>

/** The log of a session whose lease another process may hold. It grows with each read. */
export class UnheldLog {
  /** Identifies the session. */
  readonly key: SessionKey
  /** The folded log. */
  readonly view: SessionView
  /** The session as a body sees it. Nothing can be appended to it: no lease has its epoch. */
  readonly session: HeldSession
  readonly #services: Parts['services']

  private constructor(session: HeldSession, view: SessionView, services: Parts['services']) {
    this.key = session.key
    this.view = view
    this.session = session
    this.#services = services
  }

  /** Reads a session. Undefined if there is none. */
  static async open(key: SessionKey, { services, tree }: Parts): Promise<UnheldLog | undefined> {
    const stored = await readUnheld(key, services)
    if (!stored) return undefined
    const { log, view: continued, earlier } = await openCheckpoint(stored, tree, false)
    const view = continued ?? new SessionView(tree)
    view.catchUp(log.entries)
    const lease = { key, epoch: NO_EPOCH, seq: view.seq, leaseMs: 0 }
    const read = { log, view, earlier, checkpoints: undefined }
    const claimedAt = services.ports.monotonicNow()
    const session = new HeldSession(lease, read, { services, tree, claimedAt, isFresh: true })
    return new UnheldLog(session, view, services)
  }

  /** Reads what is new. False: the session was deleted. */
  async read(): Promise<boolean> {
    let isThere = false
    for await (const { entries, lastSeq } of readStoredLog(this.key, this.view.seq + 1, this.#services)) {
      if (lastSeq < this.view.seq) return false // a shorter log is that of another session
      isThere = true
      this.view.catchUp(entries)
    }
    return isThere
  }

  /** The background call with this id. Undefined if it does not wait for its body. */
  find(callId: string): EngineCall | undefined {
    return findEngineCall(this.view, callId)
  }
}

/** Epochs of leases are larger. */
const NO_EPOCH = -1

/** The log as its holder would read it. Undefined: there is no session. */
async function readUnheld(key: SessionKey, services: Parts['services']): Promise<HeldLog | undefined> {
  const { sessionService } = services
  const entriesFrom = async (fromSeq: number): Promise<Entry[]> => {
    const read: Entry[] = []
    for await (const { entries } of readStoredLog(key, fromSeq, services)) for (const entry of entries) read.push(entry)
    return read
  }
  const stored = await sessionService.readCheckpoint?.(key)
  const entries = await entriesFrom((stored?.seq ?? 0) + 1)
  const session = await sessionService.getSession({ ...key, config: { numRecentEvents: 1 } })
  if (!session) return undefined
  const state = readerOf(session.state)
  if (!stored) return { entries, state }
  const entriesBefore: Checkpoint['entriesBefore'] = async ({ fromSeq = 0 } = {}) =>
    (await entriesFrom(fromSeq + 1)).filter(({ seq }) => seq <= stored.seq)
  return { entries, state, checkpoint: { ...stored, entriesBefore } }
}

function readerOf(state: JsonObject): StateReader {
  const values = new Map(Object.entries(state))
  return { get: (key) => values.get(key), keys: () => values.keys() }
}
