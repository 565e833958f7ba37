import type { CommandLine, CommandOption, Flags, StringOptions } from '../command/command.ts'
import { parsePort } from '../command/parse-command-line.ts'
import { UsageError } from '../terminal.ts'

/** The arguments of `toolwright web` and `toolwright serve`. */
export interface ServeArguments {
  /** Agent files and folders. */
  readonly paths: readonly string[]
  /** `--app`; undefined means the names of the files. */
  readonly app: string | undefined
  /** `--db`; undefined stores each app in `.toolwright/<app>.db`. */
  readonly db: string | undefined
  /** `--port`; undefined means the default one. */
  readonly port: number | undefined
  /** `--host`; default 127.0.0.1. */
  readonly host: string
  /** `--allow-host`. */
  readonly allowedHosts: readonly string[]
  /** `--allow-origin`. */
  readonly allowedOrigins: readonly string[]
  /** `--verbose`; default false. */
  readonly verbose: boolean
}

type ListOptions<Names extends string> = {
  readonly [Name in Names]: CommandOption & { type: 'string'; multiple: true }
}

type ServeOptions = StringOptions<'port' | 'host' | 'db' | 'app'> &
  ListOptions<'allow-host' | 'allow-origin'> &
  Flags<'verbose'>

/** The options that `web` and `serve` share. */
export const serveOptions: ServeOptions = {
  port: { type: 'string', value: '<number>', description: 'Port (default: 8000); 0 takes a free one' },
  host: { type: 'string', value: '<address>', description: 'Address to listen on (default: 127.0.0.1)' },
  db: {
    type: 'string',
    value: '<file>',
    description: 'Store all sessions in this SQLite file (default: .toolwright/<app>.db); :memory: stores none',
  },
  app: { type: 'string', value: '<name>', description: 'Name of the app (default: the name of the file or folder)' },
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
  verbose: { type: 'boolean', description: 'Show the stacks of errors in the log' },
}

/** Reads the command line; throws a `UsageError` when it is invalid. */
export function readServeArguments(
  command: string,
  { values, positionals }: CommandLine<ServeOptions>,
): ServeArguments {
  if (positionals.length === 0)
    throw new UsageError(`Pass an agent file or a folder. Usage: toolwright ${command} <file|folder ...>`)
  const { port, host = '127.0.0.1', db, app, verbose = false } = values
  const allowedOrigins = values['allow-origin'] ?? []
  for (const origin of allowedOrigins) checkOrigin(origin)
  return {
    paths: positionals,
    app,
    db,
    port: port === undefined ? undefined : parsePort(port),
    host,
    allowedHosts: values['allow-host'] ?? [],
    allowedOrigins,
    verbose,
  }
}

function checkOrigin(origin: string): void {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin && /^https?:/.test(origin)
  if (!isOrigin)
    throw new UsageError(
      `--allow-origin must be an origin without a path, such as https://app.example.com, got "${origin}".`,
    )
}
