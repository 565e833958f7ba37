import type { SessionService } from '../../../services/session/service.ts'
import { createServiceTest, type MakeService, type SuiteTest } from './service-test.ts'
import { checkpointTests } from './session-checkpoint-tests.ts'
import { copyTests } from './session-copy-tests.ts'
import { countTests } from './session-count-tests.ts'
import { crashTests } from './session-crash-tests.ts'
import { findTests } from './session-find-tests.ts'
import { inboxTests } from './session-inbox-tests.ts'
import { interruptedTests } from './session-interrupted-tests.ts'
import { isolationTests } from './session-isolation-tests.ts'
import { leaseTests } from './session-lease-tests.ts'
import { lifeTests } from './session-life-tests.ts'
import { logTests } from './session-log-tests.ts'
import { pageTests } from './session-page-tests.ts'
import { pendingTests } from './session-pending-tests.ts'
import { pinTests } from './session-pin-tests.ts'
import { stateTests } from './session-state-tests.ts'
import { storeTests } from './session-store-tests.ts'

/**
 * Tests the contract of `SessionService`. For a slow store pass `(name, run) => test(name, run, 60_000)`.
 *
 * @example
 * sessionServiceSuite(test, (options) => new InMemorySessionService(options))
 */
export function sessionServiceSuite(test: SuiteTest, make: MakeService<SessionService>): void {
  const serviceTest = createServiceTest(test, make)
  storeTests(serviceTest)
  stateTests(serviceTest)
  logTests(serviceTest)
  checkpointTests(serviceTest)
  leaseTests(serviceTest)
  interruptedTests(serviceTest)
  countTests(serviceTest)
  crashTests(serviceTest)
  copyTests(serviceTest)
  inboxTests(serviceTest)
  pendingTests(serviceTest)
  isolationTests(serviceTest)
  pinTests(serviceTest)
  pageTests(serviceTest)
  findTests(serviceTest)
  lifeTests(serviceTest)
}
