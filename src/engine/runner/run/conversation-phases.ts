import type { EventActions, NewEntry } from '../../../core/event/event.ts'
import type { StateReader } from '../../../services/session/service.ts'
import type { ReadonlyView } from '../../agent/loop/session-view.ts'
import type { EventDraft, Logger } from '../../dispatch/host.ts'
import type { RunPhases } from '../../dispatch/run-phases.ts'

/** What the phases of a conversation read and write in a run. */
export interface PhaseHost {
  /** The invocation of the run. */
  readonly invocationId: string
  /** The state of the session. */
  readonly state: StateReader
  /** The log, with the phase that it has reached. */
  readonly view: Pick<ReadonlyView, 'phase'>
  /** Writes to the log. */
  readonly recorder: {
    draft(author: string, scope: undefined, content: undefined, actions: EventActions): EventDraft
    commit(entries: readonly NewEntry[]): Promise<void>
  }
  /** The logger and the clock of the runner. */
  readonly services: { readonly logger: Logger; readonly ports: { now(): number } }
}

/** The phases of all conversations of a runner: `conversationPhases()` of `toolwright/live` makes them. */
export interface ConversationPhases {
  /** @internal The phase of the conversation in one run. */
  start(host: PhaseHost): RunPhases
}
