import { deepFreeze } from '../../../core/base/deep-freeze.ts'
import { copyJson, type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { Event } from '../../../core/event/event.ts'
import type { Session, StateReader } from '../../../services/session/service.ts'

interface SnapshotSource {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
  readonly state: StateReader
  readonly view: { readonly shownEvents: readonly Event[] }
}

/** A read-only view of the session of a run. `state` and `events` are copied when they are read. */
export class SessionSnapshot implements Session {
  readonly #run: SnapshotSource
  constructor(run: SnapshotSource) {
    this.#run = run
  }
  get id(): string {
    return this.#run.sessionId
  }
  get appName(): string {
    return this.#run.appName
  }
  get userId(): string {
    return this.#run.userId
  }
  /** A new list of frozen events: tools and callbacks cannot change the log. If all agents have `history`, those they show. */
  get events(): readonly Event[] {
    return this.#run.view.shownEvents.map(deepFreeze)
  }
  get lastUpdateTime(): number {
    return this.#run.view.shownEvents.at(-1)?.timestamp ?? 0
  }
  get state(): JsonObject {
    const { state } = this.#run
    const copy: JsonObject = {}
    for (const key of state.keys()) setOwn(copy, key, copyJson(state.get(key)))
    return copy
  }
}
