import type { State } from '../../context/context.ts'
import type { LiveEvent } from '../../model/live-event.ts'
import type { StateCondition } from '../state/read-condition.ts'
import type { WatchedSession } from '../state/watched-session.ts'

/** A condition that holds without a break for some time. */
export interface SustainedPattern {
  /** The condition. */
  readonly when: StateCondition
  /** How long it must hold, in milliseconds. */
  readonly ms: number
}

/** Events that happen often. */
export interface RatePattern {
  /** The type of the events. A pattern does not count `hook`: it would count itself. */
  readonly of: Exclude<LiveEvent['type'], 'hook'>
  /** How many events. */
  readonly count: number
  /** Within how many milliseconds. */
  readonly perMs: number
}

/** A condition that holds at the end of consecutive turns. */
export interface TurnsPattern {
  /** The condition. */
  readonly when: StateCondition
  /** How many turns. */
  readonly count: number
}

/** Runs code when something lasts or repeats. It runs once per episode. */
export type LivePattern<S = WatchedSession> = {
  /** The name of the pattern. */
  readonly name: string
  /** Runs when the pattern is found. */
  run(found: { readonly state: State; readonly session: S }): unknown
} & (
  | { readonly sustained: SustainedPattern; readonly rate?: undefined; readonly turns?: undefined }
  | { readonly sustained?: undefined; readonly rate: RatePattern; readonly turns?: undefined }
  | { readonly sustained?: undefined; readonly rate?: undefined; readonly turns: TurnsPattern }
)
