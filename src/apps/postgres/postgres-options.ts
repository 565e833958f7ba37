import { anything, callback, checkOptions, name, type OptionRules } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkLeaseMs, DEFAULT_LEASE_MS } from '../../services/session/lease.ts'
import { type SqlStoreOptions, sqlStoreRules } from '../server/sql-store-options.ts'

/** Options of `postgres()`. */
export interface PostgresOptions extends SqlStoreOptions {
  /** The schema of the tables. It is created if it does not exist. Default: `toolwright`. */
  readonly schema?: string | undefined
  /**
   * How long a statement may take, and how long an open transaction may wait for its process, in milliseconds. Default: 10000, at
   * least 100.
   */
  readonly statementTimeoutMs?: number | undefined
  /**
   * The URL of a connection that listens for messages of other processes, so that an answer reaches a waiting process at once. Default:
   * the address of the database. Set it if that leads to a pooler in transaction mode, which passes on no messages: without them,
   * and with `false`, processes look for changes each second.
   */
  readonly listen?: string | false | undefined
  /**
   * Keys that encrypt credentials, each base64 of 32 random bytes. The first one encrypts, all decrypt. Default: the
   * environment variable `TOOLWRIGHT_ENCRYPTION_KEYS`, separated by commas. Without a key, credentials are refused.
   */
  readonly encryptionKeys?: readonly string[] | undefined
  /**
   * Milliseconds on the clock of leases, the same in all processes. Default: the clock of the server, or `now` when `now` is set. For
   * tests.
   */
  readonly monotonicNow?: (() => number) | undefined
}

/** The schema of the tables unless another one is named. */
export const DEFAULT_SCHEMA = 'toolwright'

const RULES: OptionRules<PostgresOptions> = {
  ...sqlStoreRules,
  schema: name,
  statementTimeoutMs: anything,
  listen: anything,
  encryptionKeys: anything,
  monotonicNow: callback,
}

/** The options that have defaults. */
type Defaulted = 'schema' | 'leaseMs' | 'statementTimeoutMs' | 'cacheBytes' | 'logger'

/** Options with their defaults. */
export type ReadOptions = Omit<PostgresOptions, Defaulted> & {
  readonly [K in Defaulted]: NonNullable<PostgresOptions[K]>
}

/** Checks the options of `postgres()`, and fills in the defaults. */
export function readOptions(options: PostgresOptions): ReadOptions {
  checkOptions('postgres()', options, RULES)
  const { schema = DEFAULT_SCHEMA, leaseMs = DEFAULT_LEASE_MS, statementTimeoutMs = 10_000 } = options
  const { cacheBytes = 64_000_000, logger = console } = options
  checkSchema(schema)
  checkLeaseMs(leaseMs)
  checkNumber('statementTimeoutMs', statementTimeoutMs, 100)
  checkNumber('cacheBytes', cacheBytes, 0)
  return { ...options, schema, leaseMs, statementTimeoutMs, cacheBytes, logger }
}

/** Checks the name of a schema. Postgres cuts longer names, so that two of them could be one; names that start with pg_ are the server's. */
export function checkSchema(schema: string): void {
  if (Buffer.byteLength(schema) <= 63 && !schema.startsWith('pg_') && !schema.includes('\0') && schema.isWellFormed())
    return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    'postgres(): schema must be a name of at most 63 bytes without NUL that does not start with "pg_".',
  )
}

function checkNumber(name: string, value: number, least: number): void {
  if (Number.isFinite(value) && value >= least && value <= 2_147_483_647) return
  throw new ToolwrightError('INVALID_CONFIG', `postgres(): ${name} must be a number >= ${least}, got ${String(value)}.`)
}
