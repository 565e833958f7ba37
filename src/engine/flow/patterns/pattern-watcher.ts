import type { Ports } from '../../../core/base/ports.ts'
import type { ReadonlyState } from '../../context/context.ts'
import type { LiveEvent } from '../../model/live-event.ts'
import { readCondition, type StateCondition } from '../state/read-condition.ts'
import type { ReportProblem } from '../state/report-problem.ts'
import type { WatchedSession } from '../state/watched-session.ts'
import { checkPatterns } from './check-patterns.ts'
import type { LivePattern } from './live-pattern.ts'
import { RateEpisode } from './rate-episode.ts'
import { SustainedEpisode } from './sustained-episode.ts'
import { TurnsEpisode } from './turns-episode.ts'

/** Options of a `PatternWatcher`. */
interface PatternWatcherOptions<S = WatchedSession> {
  /** The patterns. */
  readonly patterns: readonly LivePattern<S>[]
  /** The clock and the timers. */
  readonly ports: Pick<Ports, 'monotonicNow' | 'setTimer'>
  /** Gets the problems in conditions. */
  readonly report: ReportProblem
  /** Called once per episode of a pattern. */
  fire(pattern: LivePattern<S>): void
}

/** One pattern, as it follows a session. */
interface Follower {
  stateChanged?(state: ReadonlyState): void
  eventSeen?(type: LiveEvent['type']): void
  turnCompleted?(state: ReadonlyState): void
  close?(): void
}

/** Finds patterns in state, events and turns of a live session. */
export class PatternWatcher<S = WatchedSession> {
  readonly #options: PatternWatcherOptions<S>
  readonly #followers: readonly Follower[]
  #lifecycle: 'open' | 'closed' = 'open'

  /** Throws INVALID_CONFIG if a pattern is wrong. */
  constructor(options: PatternWatcherOptions<S>) {
    checkPatterns(options.patterns)
    this.#options = options
    this.#followers = options.patterns.map((pattern) => this.#follow(pattern))
  }
  /** Takes the state when the session starts and after every change. */
  stateChanged(state: ReadonlyState): void {
    this.#each((follower) => follower.stateChanged?.(state))
  }
  /** Takes every event of the session. */
  eventSeen(type: LiveEvent['type']): void {
    this.#each((follower) => follower.eventSeen?.(type))
  }
  /** Takes the state at the end of every turn. */
  turnCompleted(state: ReadonlyState): void {
    this.#each((follower) => follower.turnCompleted?.(state))
  }
  /** Ends the watch. No timer is left, and no pattern is found any more. */
  close(): void {
    this.#lifecycle = 'closed'
    for (const follower of this.#followers) follower.close?.()
  }
  /** Visits the followers until the watch ends: code that one of them calls may end it. */
  #each(visit: (follower: Follower) => void): void {
    for (const follower of this.#followers) {
      if (this.#lifecycle === 'closed') return
      visit(follower)
    }
  }
  #follow(pattern: LivePattern<S>): Follower {
    const { sustained, rate, turns } = pattern
    const { ports } = this.#options
    if (sustained) {
      const episode = new SustainedEpisode(sustained.ms, ports, () => this.#fire(pattern))
      return {
        stateChanged: (state) => episode.update(this.#holds(pattern, sustained.when, state)),
        close: () => episode.close(),
      }
    }
    if (rate) {
      const episode = new RateEpisode(rate.count, rate.perMs)
      return {
        eventSeen: (type) => {
          if (type === rate.of && episode.add(ports.monotonicNow())) this.#fire(pattern)
        },
      }
    }
    const episode = new TurnsEpisode(turns.count)
    return {
      turnCompleted: (state) => {
        if (episode.add(this.#holds(pattern, turns.when, state))) this.#fire(pattern)
      },
    }
  }
  #holds({ name }: LivePattern<S>, when: StateCondition, state: ReadonlyState): boolean {
    return readCondition(`condition of pattern "${name}"`, () => when(state), this.#options.report)
  }
  #fire(pattern: LivePattern<S>): void {
    try {
      this.#options.fire(pattern)
    } catch (error) {
      this.#options.report(`Pattern "${pattern.name}" was found, but could not run.`, error)
    }
  }
}
