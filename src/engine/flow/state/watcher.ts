import { callback, name, type OptionRules } from '../../../core/error/check-options.ts'
import type { State } from '../../context/context.ts'
import { checkItems } from './check-items.ts'
import { checkDerivedKey } from './order-computed.ts'
import type { WatchCondition } from './watch-conditions.ts'
import type { WatchedSession } from './watched-session.ts'

/** Runs code when the value of a state key changes. */
export interface Watcher<S = WatchedSession> {
  /** The state key, with its prefix. `derived:<key>` watches a computed value. */
  readonly key: string
  /** Which changes count: `changed()`, `changedTo(v)`, `crossedAbove(n)` and so on, or a function of both values. */
  readonly on: WatchCondition
  /** Runs after the change is recorded. A value is undefined if the key is absent. */
  run(change: WatcherRun<S>): unknown
}

/** What a watcher gets when it runs. */
export interface WatcherRun<S = WatchedSession> {
  /** The value before the change. */
  readonly before: unknown
  /** The value after the change. */
  readonly after: unknown
  /** The state of the session. Writes are recorded. */
  readonly state: State
  /** The session. */
  readonly session: S
}

/** A watcher whose condition holds for a change. */
export interface WatcherCall<S = WatchedSession> {
  /** The watcher to run. */
  readonly watcher: Watcher<S>
  /** A copy of the value before the change. */
  readonly before: unknown
  /** A copy of the value after the change. */
  readonly after: unknown
}

const RULES: OptionRules<Watcher> = { key: name, on: callback, run: callback }

/** Throws INVALID_CONFIG if a watcher is wrong, or watches a `derived:` key that is not computed. */
export function checkWatchers<S>(watchers: readonly Watcher<S>[], computedKeys: readonly string[]): void {
  checkItems('watchers', watchers, RULES, ['key', 'on', 'run'])
  watchers.forEach(({ key }, at) => {
    checkDerivedKey(`watchers[${at}]: key`, key, computedKeys)
  })
}
