import type { ReadonlyState, State } from '../../context/context.ts'
import type { StateCondition } from '../state/read-condition.ts'
import type { WatchedSession } from '../state/watched-session.ts'

/** A way from one phase to another. */
export interface PhaseTransition {
  /** The name of the next phase. */
  readonly to: string
  /** When the conversation moves on. The `guard` of the next phase must hold, too. */
  readonly when: StateCondition
  /** What the transition means, for people. */
  readonly description?: string | undefined
}

/** What the hooks of a phase get. */
interface PhaseHook<S> {
  /** The state of the session. Writes are recorded. */
  readonly state: State
  /** The session. */
  readonly session: S
}

/** A phase of a live conversation, with its own instruction and tools. */
export interface LivePhase<S = WatchedSession> {
  /** The name of the phase. */
  readonly name: string
  /** The instruction of the model while the phase lasts, or a function that returns it. */
  readonly instruction: string | ((state: ReadonlyState) => string | Promise<string>)
  /** The names of the tools that the model may call. Default: all. An empty list means none. */
  readonly tools?: readonly string[] | undefined
  /** The ways out of the phase. The first one that applies is taken. */
  readonly transitions?: readonly PhaseTransition[] | undefined
  /** Whether a transition may enter the phase. A transition to a phase whose guard does not hold is skipped. */
  readonly guard?: StateCondition | undefined
  /** Runs after the phase was entered. `from` is undefined if the session starts in this phase. */
  readonly onEnter?: ((hook: PhaseHook<S> & { readonly from: string | undefined }) => unknown) | undefined
  /** Runs before the phase is left. */
  readonly onExit?: ((hook: PhaseHook<S> & { readonly to: string }) => unknown) | undefined
  /** State keys that the conversation must fill. The instruction names those that are missing. */
  readonly needs?: readonly string[] | undefined
  /** The conversation ends in this phase: it must not have transitions. The program may still move to another phase. */
  readonly terminal?: boolean | undefined
}

/** A move from one phase to another. */
export interface PhaseChange {
  /** The phase that was left. */
  readonly from: string
  /** The phase that was entered. */
  readonly to: string
  /** When the phase was entered, in milliseconds since the epoch. */
  readonly at: number
  /** The turn of the conversation. */
  readonly turn: number
  /** Why: the condition of a transition, or a call of the program. */
  readonly trigger: 'condition' | 'program'
}
