// What a command line says about a fleet on Restate. The secret is never an option: others could read it in the list of processes.
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RestateWorkerOptions } from '../../restate/worker-options.ts'
import { isLoopbackHost } from '../../server/guard/allowed-hosts.ts'
import type { CommandOption, StringOptions } from '../command/command.ts'
import { parsePort } from '../command/parse-command-line.ts'
import { type Terminal, UsageError } from '../terminal.ts'

const SECRET = 'TOOLWRIGHT_FLEET_SECRET'
const MIN_SECRET = 32
const DEFAULT_PORT = 9_080
/** The port of Restate's admin API, unless its operator has set another one. */
const ADMIN_PORT = '9070'

/** `--restate`, of workers and servers. */
export const restateOption: CommandOption & { type: 'string' } = {
  type: 'string',
  value: '<url>',
  description: `Restate calls the workers: the address of its ingress, such as http://127.0.0.1:8080. Needs ${SECRET}`,
}

/** The options of a worker that Restate calls. */
export const restateWorkerOptions: StringOptions<'restate' | 'restate-admin' | 'url' | 'host' | 'port'> & {
  readonly 'identity-key': CommandOption & { type: 'string'; multiple: true }
} = {
  restate: restateOption,
  'restate-admin': {
    type: 'string',
    value: '<url>',
    description: `With --restate: the admin API, which registers the worker (default: port ${ADMIN_PORT} of the host of --restate)`,
  },
  url: {
    type: 'string',
    value: '<url>',
    description:
      'With --restate: where Restate reaches the workers of this version (default: the address the worker listens on)',
  },
  host: {
    type: 'string',
    value: '<address>',
    description: 'With --restate: address to listen on (default: 127.0.0.1)',
  },
  port: {
    type: 'string',
    value: '<number>',
    description: `With --restate: port (default: ${DEFAULT_PORT}); 0 takes a free one`,
  },
  'identity-key': {
    type: 'string',
    multiple: true,
    value: '<key>',
    description:
      'With --restate: public key of Restate, publickeyv1_...; requests of others are refused. May be repeated, or a list with commas',
  },
}

type Values = { readonly [option in 'restate' | 'restate-admin' | 'url' | 'host' | 'port']?: string | undefined } & {
  readonly 'identity-key'?: readonly string[] | undefined
}

/** How to reach Restate, and how it reaches the worker. */
export type RestateArguments = Pick<RestateWorkerOptions, 'ingress' | 'url' | 'identityKeys' | 'secret'> & {
  /** `--restate-admin`, or its default. */
  readonly admin: string
  /** `--host`. */
  readonly host: string
  /** `--port`. */
  readonly port: number
}

/** Reads the options of a worker; undefined without `--restate`. Throws a `UsageError` if they do not fit together. */
export function readRestateArguments(values: Values, env: Terminal['env']): RestateArguments | undefined {
  const { restate, url, host = '127.0.0.1', port } = values
  if (restate === undefined) {
    const given = (['restate-admin', 'url', 'host', 'port', 'identity-key'] as const).find((name) => values[name])
    if (given) throw new UsageError(`--${given} is for a worker that Restate calls. Add --restate <url>.`)
    return undefined
  }
  const ingress = readUrl('restate', restate)
  const identityKeys = (values['identity-key'] ?? []).flatMap((list) => list.split(',')).map((key) => key.trim())
  const badKey = identityKeys.find((key) => !/^publickeyv1_[A-Za-z0-9]+$/.test(key))
  if (badKey !== undefined)
    throw new UsageError(`--identity-key must be a public key that Restate prints, publickeyv1_..., got "${badKey}".`)
  if (!isLoopbackHost(host) && identityKeys.length === 0)
    throw new UsageError(
      `Other machines can reach "${host}". Pass --identity-key with the public key that Restate prints when it starts, or remove --host.`,
    )
  if (isWildcard(host) && url === undefined)
    throw new UsageError(
      `--host ${host} is every address of this machine. Pass --url with the one under which Restate reaches the workers.`,
    )
  return {
    ingress,
    admin: values['restate-admin'] === undefined ? adminOf(ingress) : readUrl('restate-admin', values['restate-admin']),
    url: url === undefined ? undefined : readUrl('url', url),
    host,
    port: port === undefined ? DEFAULT_PORT : parsePort(port),
    identityKeys,
    secret: fleetSecret(env),
  }
}

/** The value of an option that is an address. The text is not repeated: it may hold a password. */
export function readUrl(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
  if (isPlain) return text
  throw new UsageError(
    `--${option} must be an http or https address without user, query and fragment, such as http://127.0.0.1:8080.`,
  )
}

/** The secret that signs the calls of a fleet. Throws INVALID_CONFIG if there is none. */
export function fleetSecret(env: Terminal['env']): string {
  const secret = env[SECRET] ?? ''
  if (secret.length >= MIN_SECRET) return secret
  const problem = secret === '' ? 'is not set' : `has only ${secret.length} characters`
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${SECRET} ${problem}. Set it to the same random text of at least ${MIN_SECRET} characters for all servers and workers: openssl rand -hex 32`,
  )
}

function adminOf(ingress: string): string {
  const url = new URL(ingress)
  url.port = ADMIN_PORT
  return url.origin
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '[::]'
}
