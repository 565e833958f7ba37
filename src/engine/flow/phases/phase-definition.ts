import type { ComputedValue } from '../state/order-computed.ts'
import type { WatchedSession } from '../state/watched-session.ts'
import type { LivePhase } from './live-phase.ts'

/** The phases of a conversation, and the computed values that their conditions read. */
export interface PhaseDefinition<S = WatchedSession> {
  /** The phases. */
  readonly phases: readonly LivePhase<S>[]
  /** The phase in which a conversation starts. */
  readonly initialPhase: string
  /** Values that are computed from state. */
  readonly computed?: readonly ComputedValue[] | undefined
}
