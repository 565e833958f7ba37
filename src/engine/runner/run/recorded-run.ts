import type { StopSignal } from '../../../core/base/stop-signal.ts'
import type { Event } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { RunKind } from '../../../core/event/invocation-state.ts'
import type { StateReader } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import type { RunProgress } from '../../agent/loop/run-host.ts'
import type { ReadonlyView } from '../../agent/loop/session-view.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import type { RunOperation } from '../../observe/operation.ts'
import type { RunServices } from '../run-services.ts'
import type { WholeLog } from '../session/whole-log.ts'
import type { EventQueue } from './event-queue.ts'

/** What changes while a run is under way. */
export interface RunnerProgress extends RunProgress {
  /** Whether the user's message is recorded and the loop has started. */
  hasStarted: boolean
  /** Settles when the user's message is recorded: the inbox is read after it. Undefined if there is none. */
  recording: Promise<void> | undefined
  /** Whether the run drains no more inbox items: they are for the next run of the session. */
  isFinalizing: boolean
  /** Inbox items to remove with the user's message, or with the append that ends the run. */
  drained: readonly string[] | undefined
}

/** State of the session, with the `temp:` values of the run. */
export interface RecordedState extends StateReader {
  /** Sets a `temp:` value; null or undefined deletes it. */
  setTemp(key: string, value: unknown): void
}

/** Listens to what a run records, as it is recorded. */
export interface RunListener {
  /** Called with every stored event, also those of the user, in the order of the log. */
  recorded(event: Event): void
  /** Called when a `temp:` value changes. Null deletes it. */
  changedTemp(key: string, value: unknown): void
}

/** What the recorder and the inbox read of their run. */
export interface RecordedRun extends InvocationHost {
  /** What the runner provides to every run. */
  readonly services: RunServices
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** The session's log, folded. */
  readonly view: ReadonlyView
  /** The session's log. */
  readonly held: WholeLog
  /** The fold of the run's invocation. */
  readonly fold: Fold
  /** The session's state, with the `temp:` values of the run. */
  readonly state: RecordedState
  /** Stops the run. */
  readonly stop: StopSignal
  /** The queue of events for the consumer. */
  readonly events: EventQueue
  /** What changes while the run is under way. */
  readonly progress: RunnerProgress
  /** Who drives the run. */
  readonly kind: RunKind
  /** Set in a live session. */
  readonly listener: RunListener | undefined
  /** The run as observers see it. Undefined: it is not observed. */
  readonly operation: RunOperation | undefined
  /** The trace context that the log has of the invocation. */
  readonly recordedTrace: string | undefined
}
