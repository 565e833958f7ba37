import type { WorkerService } from '../../../services/worker/service.ts'
import type { SessionEngine } from './session-engine.ts'

/** Options of a runner about its workers. */
export interface FleetOptions {
  /** Stores which workers there are, for operators. `sqlite()` and `postgres()` bring one. Default: none, workers report nothing. */
  readonly workerService?: WorkerService | undefined
  /** Schedules sessions over many workers: `restate()`. Told of what `submit()` and `answer()` store. Default: workers look for it. */
  readonly engine?: SessionEngine | undefined
}
