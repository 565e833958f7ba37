import type { SessionService } from '../session/service.ts'
import { inboxStories } from './session-inbox-suite.ts'
import { interruptedStories } from './session-interrupted-suite.ts'
import { isolationStories } from './session-isolation-suite.ts'
import { leaseStories } from './session-lease-suite.ts'
import { logStories } from './session-log-suite.ts'
import { pendingStories } from './session-pending-suite.ts'
import { stateStories } from './session-state-suite.ts'
import { storeStories } from './session-store-suite.ts'
import { type MakeService, type SuiteTest, storyteller } from './suite.ts'

/**
 * What every SessionService must do, as tests. Slow stores may want `(name, run) => test(name, run, 60_000)`.
 *
 * @example
 * sessionServiceSuite(test, (options) => new InMemorySessionService(options))
 */
export function sessionServiceSuite(test: SuiteTest, make: MakeService<SessionService>): void {
  const story = storyteller(test, make)
  storeStories(story)
  stateStories(story)
  logStories(story)
  leaseStories(story)
  interruptedStories(story)
  inboxStories(story)
  pendingStories(story)
  isolationStories(story)
}
