import type { State } from '../../context/context.ts'
import type { ReportProblem } from '../state/report-problem.ts'
import type { WatchedSession } from '../state/watched-session.ts'
import type { LivePhase, PhaseChange } from './live-phase.ts'

/** Options of a `PhaseMachine`. */
export interface PhaseMachineOptions<S = WatchedSession> {
  /** The phases. */
  readonly phases: readonly LivePhase<S>[]
  /** The phase in which the session starts. */
  readonly initialPhase: string
  /** Milliseconds since the epoch, for the history. */
  now(): number
  /** Gets the problems in conditions, hooks and instructions. */
  readonly report: ReportProblem
}

/** What a move between phases passes to the hooks. */
export interface MoveOptions<S = WatchedSession> {
  /** The state of the session, for the hooks. */
  readonly state: State
  /** The session, for the hooks. */
  readonly session: S
  /** The turn of the conversation, for the history. */
  readonly turn: number
}

/** Options of `settle()`. */
export interface SettleOptions<S = WatchedSession> extends MoveOptions<S> {
  /** The most moves. Default: the number of phases. */
  readonly limit?: number | undefined
  /** Awaited after each move, before conditions are read again. For example to record what the hooks wrote. */
  readonly afterMove?: ((change: PhaseChange) => unknown) | undefined
}
