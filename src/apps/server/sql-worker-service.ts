import type { DamageLogger } from '../../services/sql/report-skipped-rows.ts'
import type { SqlDatabase } from '../../services/sql/sql.ts'
import { SqlWorkerService } from '../../services/sql/worker-service.ts'
import type { WorkerService } from '../../services/worker/service.ts'
import { VERSION } from './version.ts'

/** Stores workers in a database. They report the version of this package. */
export function sqlWorkerService(database: SqlDatabase, logger: DamageLogger): WorkerService {
  return new SqlWorkerService(database, { version: VERSION, logger })
}
