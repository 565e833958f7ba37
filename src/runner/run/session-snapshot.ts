import { deepFreeze } from '../../base/deep-freeze.ts'
import { copyJson, type JsonObject, setOwn } from '../../base/json.ts'
import type { Event } from '../../event/event.ts'
import type { Session, StateReader } from '../../session/service.ts'

interface SnapshotSource {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
  readonly state: StateReader
  readonly view: { readonly events: readonly Event[] }
}

/** The session of a run, for reading: as it is now, its state copied when it is looked at. */
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
  /** Frozen, in a list of its own: tools and callbacks cannot change the log. */
  get events(): readonly Event[] {
    return this.#run.view.events.map(deepFreeze)
  }
  get lastUpdateTime(): number {
    return this.#run.view.events.at(-1)?.timestamp ?? 0
  }
  get state(): JsonObject {
    const { state } = this.#run
    const copy: JsonObject = {}
    for (const key of state.keys()) setOwn(copy, key, copyJson(state.get(key)))
    return copy
  }
}
