import type { Entry } from '../../../core/event/event.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import { sessionNotFound } from '../../../services/session/session-errors.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { type ReadonlyView, SessionView } from '../../agent/loop/session-view.ts'
import { fromCheckpoint } from '../../agent/loop/view-checkpoint.ts'
import type { RunServices } from '../run-services.ts'
import { eventsOf } from '../session/open-checkpoint.ts'
import type { WholeLog } from '../session/whole-log.ts'
import { readStoredLog } from './stored-log.ts'

interface Parts {
  readonly services: Pick<RunServices, 'sessionService' | 'ports'>
  readonly tree: AgentTree
}

/** The view of a stored log up to its checkpoint: what follows is to be added. An empty view if there is no checkpoint that fits. */
export async function viewOfCheckpoint(key: SessionKey, { services, tree }: Parts): Promise<SessionView> {
  const checkpoint = await services.sessionService.readCheckpoint?.(key)
  const view = checkpoint && fromCheckpoint(tree, checkpoint.state)
  return view && view.seq === checkpoint.seq ? view : new SessionView(tree)
}

/** The view of a stored log without its events. Throws NOT_FOUND. */
export async function viewWithoutEvents(key: SessionKey, parts: Parts): Promise<ReadonlyView> {
  const view = await viewOfCheckpoint(key, parts)
  for await (const entries of entriesAfter(view, key, parts.services)) {
    view.catchUp(entries)
    view.events.length = 0 // the requests are in the folds
  }
  return view
}

/** The folded log of a session, read without its lease: another process may hold it. Entries before its checkpoint are read when needed. */
export class StoredView implements WholeLog {
  readonly view: SessionView
  readonly #key: SessionKey
  readonly #services: Parts['services']
  /** The entries after the checkpoint; all, once the others are loaded. */
  #entries: Entry[] = []
  /** The latest entry in the checkpoint. */
  readonly #checkpointSeq: number
  #loading: Promise<void> | undefined

  private constructor(key: SessionKey, view: SessionView, services: Parts['services']) {
    this.#key = key
    this.view = view
    this.#checkpointSeq = view.seq
    this.#services = services
  }

  /** Reads a session. Throws NOT_FOUND. */
  static async open(key: SessionKey, parts: Parts): Promise<StoredView> {
    const stored = new StoredView(key, await viewOfCheckpoint(key, parts), parts.services)
    for await (const entries of entriesAfter(stored.view, key, parts.services)) {
      stored.view.catchUp(entries)
      for (const entry of entries) stored.#entries.push(entry)
    }
    return stored
  }

  load(): Promise<void> | undefined {
    if (this.#checkpointSeq === 0) return undefined
    this.#loading ??= this.#loadBefore()
    return this.#loading
  }

  async allEntries(): Promise<readonly Entry[]> {
    await this.load()
    return this.#entries
  }

  async #loadBefore(): Promise<void> {
    const before: Entry[] = []
    for await (const { entries } of readStoredLog(this.#key, 1, this.#services)) {
      for (const entry of entries) if (entry.seq <= this.#checkpointSeq) before.push(entry)
      if (before.length === this.#checkpointSeq) break
    }
    this.#entries = [...before, ...this.#entries]
    this.view.prepend(eventsOf(before))
  }
}

/** The entries that a view does not have yet, in pieces. Throws NOT_FOUND if its session is not there. */
async function* entriesAfter(
  { seq }: ReadonlyView,
  key: SessionKey,
  services: Parts['services'],
): AsyncGenerator<readonly Entry[], void> {
  let isThere = false
  for await (const { entries, lastSeq } of readStoredLog(key, seq + 1, services)) {
    isThere = lastSeq >= seq // a shorter log is that of another session
    yield entries
  }
  if (!isThere) throw sessionNotFound(key.sessionId)
}
