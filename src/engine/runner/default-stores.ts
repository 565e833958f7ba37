import type { Ports } from '../../core/base/ports.ts'
import { InMemoryCredentialService } from '../../services/credential/in-memory.ts'
import type { CredentialService } from '../../services/credential/service.ts'
import { InMemoryLimitService } from '../../services/limit/in-memory.ts'
import { SlotHolder } from '../../services/limit/slot-holder.ts'
import { InMemoryScheduleService } from '../../services/schedule/in-memory.ts'
import type { ScheduleService } from '../../services/schedule/service.ts'
import { InMemorySessionService } from '../../services/session/in-memory.ts'
import type { SessionService } from '../../services/session/service.ts'
import type { RunnerOptions } from './runner-options.ts'

/** Services that every runner has. */
interface Stores {
  readonly sessionService: SessionService
  readonly credentialService: CredentialService
  readonly scheduleService: ScheduleService
  readonly slots: SlotHolder
}

/** The services of the options. Those that are missing are in memory. */
export function storesOf(options: RunnerOptions, ports: Ports): Stores {
  const { limitService = new InMemoryLimitService({ monotonicNow: ports.monotonicNow }), logger = console } = options
  return {
    sessionService: options.sessionService ?? new InMemorySessionService(),
    credentialService: options.credentialService ?? new InMemoryCredentialService(),
    scheduleService: options.scheduleService ?? new InMemoryScheduleService(),
    slots: new SlotHolder({ service: limitService, ports, logger }),
  }
}
