import type { JsonObject } from '../../../core/base/json.ts'
import type { Entry } from '../../../core/event/event.ts'
import type { SessionKey, StateReader } from '../../../services/session/service.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { type EngineCall, findEngineCall } from '../inbox/posted-attempts.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { HeldSession } from '../session/held-session.ts'
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
    const view = new SessionView(tree)
    const entries: Entry[] = []
    for await (const piece of readStoredLog(key, 1, services)) {
      view.catchUp(piece.entries)
      entries.push(...piece.entries)
    }
    const stored = await services.sessionService.getSession({ ...key, config: { numRecentEvents: 1 } })
    if (!stored) return undefined
    const lease = { key, epoch: NO_EPOCH, seq: view.seq, leaseMs: 0 }
    const log = { entries, state: readerOf(stored.state) }
    const read = { log, view, earlier: undefined, checkpoints: undefined }
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

function readerOf(state: JsonObject): StateReader {
  const values = new Map(Object.entries(state))
  return { get: (key) => values.get(key), keys: () => values.keys() }
}
