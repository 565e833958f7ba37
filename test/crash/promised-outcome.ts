import type { Outcome } from './audit/find-wrong-effects.ts'
import type { KillPoint, Shape } from './kill-points.ts'

/** What a killed run is promised: how often its last tool takes effect, and what its response says. */
export interface PromisedOutcome {
  /** Completes a test title: "a run that is killed there pays once". */
  readonly title: string
  /** How often the outside world has seen the effect. */
  readonly effects: readonly number[]
  readonly outcome: Outcome | 'no call'
}

const ONCE: PromisedOutcome = { title: 'pays once', effects: [1], outcome: 'paid' }
const NOT_AT_ALL: PromisedOutcome = {
  title: 'does not pay, and says that the outcome is unknown',
  effects: [0],
  outcome: 'unknown',
}
const NOT_AGAIN: PromisedOutcome = {
  title: 'does not pay again, and says that the outcome is unknown',
  effects: [1],
  outcome: 'unknown',
}
const AT_MOST_ONCE: PromisedOutcome = {
  title: 'pays at most once, and says that the outcome is unknown',
  effects: [0, 1],
  outcome: 'unknown',
}
const AGAIN: PromisedOutcome = { title: 'pays again with the same key', effects: [2], outcome: 'paid' }
const CANCELLED: PromisedOutcome = {
  title: 'does not pay, and says that the call was cancelled',
  effects: [0],
  outcome: 'not started',
}

const NOTHING_STORED: PromisedOutcome = {
  title: 'pays nothing, because its message is not stored',
  effects: [0],
  outcome: 'no call',
}

/** What a run is promised that is killed the `nth` time that it comes to a point. */
export function promisedOutcome(shape: Shape, point: KillPoint, nth: number): PromisedOutcome {
  if (point === 'c15') return NOTHING_STORED // the checkpoint is stored with the message
  if (shape === 'background') return ONCE // its tool is reconcilable
  if (shape === 'nested') return point === 'c7' || point === 'c8' ? AGAIN : ONCE // its tool is idempotent
  switch (point) {
    case 'c4':
      return shape === 'live' ? CANCELLED : ONCE // a live model does not wait for calls of an earlier connection
    case 'c5':
    case 'c6':
    case 'c12':
    case 'c13':
      return NOT_AT_ALL
    case 'c7':
      return (shape === 'parallel' || shape === 'live') && nth === 1 ? AT_MOST_ONCE : NOT_AGAIN
    case 'c8':
      // the second result of a long-running call is what the caller sends
      return shape === 'long-running' && nth === 2 ? ONCE : NOT_AGAIN
    default:
      return ONCE
  }
}
