import type { LimitService } from '../../services/limit/service.ts'
import type { WorkerService } from '../../services/worker/service.ts'
import type { RunnerLimits } from './run/limit-options.ts'
import type { SessionEngine } from './work/session-engine.ts'

/** Options of a runner that shares its app with the runners of other processes. */
export interface FleetOptions {
  /** Stores limits of the whole fleet: of `shared` policies and of `limits`. Default: in memory; `postgres()` shares them over all processes. */
  readonly limitService?: LimitService | undefined
  /** How many runs there may be, and how many messages may wait, over all processes with the same store. Default: any number. */
  readonly limits?: RunnerLimits | undefined
  /** Stores which workers there are, for operators. `sqlite()` and `postgres()` bring one. Default: none, workers report nothing. */
  readonly workerService?: WorkerService | undefined
  /** Schedules sessions over many workers: `restate()`. Told of what `submit()` and `answer()` store. Default: workers look for it. */
  readonly engine?: SessionEngine | undefined
}
