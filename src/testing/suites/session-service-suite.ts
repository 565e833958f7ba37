import type { SessionService } from '../../session/service.ts'
import { inboxTests } from './session-inbox-tests.ts'
import { interruptedTests } from './session-interrupted-tests.ts'
import { isolationTests } from './session-isolation-tests.ts'
import { leaseTests } from './session-lease-tests.ts'
import { logTests } from './session-log-tests.ts'
import { pendingTests } from './session-pending-tests.ts'
import { stateTests } from './session-state-tests.ts'
import { storeTests } from './session-store-tests.ts'
import { type MakeService, type SuiteTest, createServiceTest } from './service-test.ts'

/**
 * What every SessionService must do, as tests. Slow stores may want `(name, run) => test(name, run, 60_000)`.
 *
 * @example
 * sessionServiceSuite(test, (options) => new InMemorySessionService(options))
 */
export function sessionServiceSuite(test: SuiteTest, make: MakeService<SessionService>): void {
  const serviceTest = createServiceTest(test, make)
  storeTests(serviceTest)
  stateTests(serviceTest)
  logTests(serviceTest)
  leaseTests(serviceTest)
  interruptedTests(serviceTest)
  inboxTests(serviceTest)
  pendingTests(serviceTest)
  isolationTests(serviceTest)
}
