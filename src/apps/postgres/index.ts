/**
 * Sessions, artifacts, memory, schedules and encrypted credentials in Postgres, for any number of processes and machines.
 *
 * @module
 */
export type { PostgresClient, PostgresConnection, PostgresPool } from './pool.ts'
export { type PostgresServices, postgres } from './postgres.ts'
export type { PostgresOptions } from './postgres-options.ts'
