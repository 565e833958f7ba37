import type { ServerLimits } from '../../server/server-options.ts'
import type { CommandLine, CommandOption, Flags, StringOptions } from '../command/command.ts'
import { parsePort } from '../command/parse-command-line.ts'
import { databaseOptions, storeOptions } from '../command/store-options.ts'
import { readDatabase } from '../load/app-database.ts'
import { UsageError } from '../terminal.ts'

/** The arguments of `toolwright web` and `toolwright serve`. */
export interface ServeArguments {
  /** Agent files and folders. */
  readonly paths: readonly string[]
  /** `--app`; undefined means the names of the files. */
  readonly app: string | undefined
  /** `--db`, or `:memory:` for `--memory`; undefined stores each app in `.toolwright/<app>.db`. */
  readonly db: string | undefined
  /** `--port`; undefined means the default one. */
  readonly port: number | undefined
  /** `--host`; default 127.0.0.1. */
  readonly host: string
  /** `--allow-host`. */
  readonly allowedHosts: readonly string[]
  /** `--allow-origin`. */
  readonly allowedOrigins: readonly string[]
  /** `--requests-per-minute` and `--concurrent-runs`. */
  readonly limits: Pick<Partial<ServerLimits>, 'requestsPerMinute' | 'concurrentRuns'>
  /** `--metrics`; default false. */
  readonly metrics: boolean
  /** `--verbose`; default false. */
  readonly verbose: boolean
}

type ListOptions<Names extends string> = {
  readonly [Name in Names]: CommandOption & { type: 'string'; multiple: true }
}

type ServeOptions = StringOptions<'port' | 'host' | 'db' | 'app' | 'requests-per-minute' | 'concurrent-runs'> &
  ListOptions<'allow-host' | 'allow-origin'> &
  Flags<'memory' | 'metrics' | 'verbose'>

/** The options that `web` and `serve` share. */
export const serveOptions: ServeOptions = {
  port: { type: 'string', value: '<number>', description: 'Port (default: 8000); 0 takes a free one' },
  host: { type: 'string', value: '<address>', description: 'Address to listen on (default: 127.0.0.1)' },
  ...databaseOptions,
  app: storeOptions.app,
  'allow-host': {
    type: 'string',
    multiple: true,
    value: '<name>',
    description: 'Accept requests for this host name, such as agents.example.com; may be repeated',
  },
  'allow-origin': {
    type: 'string',
    multiple: true,
    value: '<origin>',
    description: 'Let pages of this origin call the server, such as https://app.example.com; may be repeated',
  },
  'requests-per-minute': {
    type: 'string',
    value: '<number>',
    description: 'Requests of one user per minute (default: 1200); a gateway that acts for many users is one user',
  },
  'concurrent-runs': {
    type: 'string',
    value: '<number>',
    description: 'Runs of one user at the same time (default: 100)',
  },
  metrics: { type: 'boolean', description: 'Measure runs, tools and stores for /metrics' },
  verbose: { type: 'boolean', description: 'Show the stacks of errors in the log' },
}

/** Reads the command line; throws a `UsageError` when it is invalid. */
export function readServeArguments(
  command: string,
  { values, positionals }: CommandLine<ServeOptions>,
): ServeArguments {
  if (positionals.length === 0)
    throw new UsageError(`Pass an agent file or a folder. Usage: toolwright ${command} <file|folder ...>`)
  const { port, host = '127.0.0.1', app, metrics = false, verbose = false } = values
  const allowedOrigins = values['allow-origin'] ?? []
  for (const origin of allowedOrigins) checkOrigin(origin)
  return {
    paths: positionals,
    app,
    db: readDatabase(values),
    port: port === undefined ? undefined : parsePort(port),
    host,
    allowedHosts: values['allow-host'] ?? [],
    allowedOrigins,
    limits: readLimits(values),
    metrics,
    verbose,
  }
}

function readLimits(
  values: {
    readonly [option in 'requests-per-minute' | 'concurrent-runs']?: string | undefined
  },
): ServeArguments['limits'] {
  const requestsPerMinute = readCount('requests-per-minute', values['requests-per-minute'])
  const concurrentRuns = readCount('concurrent-runs', values['concurrent-runs'])
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(concurrentRuns !== undefined && { concurrentRuns }),
  }
}

/** The value of an option that counts something. Throws a `UsageError` if it is no number above 0. */
export function readCount(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`--${option} must be a whole number above 0, got "${text}".`)
}

function checkOrigin(origin: string): void {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin && /^https?:/.test(origin)
  if (!isOrigin)
    throw new UsageError(
      `--allow-origin must be an origin without a path, such as https://app.example.com, got "${origin}".`,
    )
}
