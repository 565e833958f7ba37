// Checks the options of `createServer()` and `listen()`.
import {
  callback,
  checkOptions,
  flag,
  list,
  type OptionRules,
  objectWith,
  oneOf,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { isLoopbackHost } from './guard/allowed-hosts.ts'
import { readAllowedOrigins } from './guard/allowed-origins.ts'
import type {
  ClientStateOptions,
  RecoverySweepOptions,
  ServerLimits,
  ServerOptions,
  SweepPruneOptions,
} from './server-options.ts'

const RULES: OptionRules<ServerOptions> = {
  apps: record,
  services: record,
  live: record,
  authenticate: callback,
  token: {
    expects: 'a string of 8 or more characters',
    accepts: (value) => text.accepts(value) && String(value).length >= 8,
  },
  clientState: record,
  mayAnswer: callback,
  allowedHosts: list,
  allowedOrigins: list,
  trustProxy: flag,
  allowUnauthenticatedRemote: flag,
  onDisconnect: oneOf('cancel', 'detach'),
  recover: { expects: 'false or an object', accepts: (value) => value === false || record.accepts(value) },
  limits: record,
  metrics: flag,
  dev: flag,
  recordModelCalls: flag,
  page: text,
  tours: record,
  agentFiles: record,
  logger: objectWith('warn', 'error'),
}

const texts: Rule = {
  expects: 'a list of strings',
  accepts: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
}

const CLIENT_STATE_RULES: OptionRules<ClientStateOptions> = { allow: texts, deny: texts }

/** A name or an address, with a port or without one. */
const HOST = /^(?:[a-z\d.-]+|\[[a-f\d:.]+\])(?::\d{1,5})?$/i

const LIMIT_RULES: OptionRules<ServerLimits> = {
  bodyBytes: wholeNumber(1),
  streamBufferBytes: wholeNumber(1),
  streamStallMs: wholeNumber(1),
  requestsPerMinute: wholeNumber(1),
  failedAuthenticationsPerMinute: wholeNumber(1),
  concurrentRuns: wholeNumber(1),
  sessionsPerUser: wholeNumber(1),
  stateKeys: wholeNumber(1),
  stateBytes: wholeNumber(1),
  responseBytes: wholeNumber(1),
  drainMs: wholeNumber(0),
  headersTimeoutMs: wholeNumber(1),
  requestTimeoutMs: wholeNumber(1),
  connections: wholeNumber(1),
  liveSilenceMs: wholeNumber(1),
}

const RECOVER_RULES: OptionRules<RecoverySweepOptions> = {
  everyMs: wholeNumber(1),
  where: callback,
  runContext: callback,
  prune: record,
}

const PRUNE_RULES: OptionRules<SweepPruneOptions> = {
  everyMs: wholeNumber(1),
  olderThan: wholeNumber(0),
  maxSessionsPerUser: wholeNumber(0),
  keepPending: flag,
}

/** Throws `INVALID_CONFIG` for options that are unknown or wrong. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions('createServer()', options, RULES)
  checkOptions('createServer(), limits', options.limits ?? {}, LIMIT_RULES)
  checkOptions('createServer(), clientState', options.clientState ?? {}, CLIENT_STATE_RULES)
  checkOptions('createServer(), recover', options.recover || {}, RECOVER_RULES)
  checkPrune(options.recover || {})
  readAllowedOrigins(options.allowedOrigins)
  for (const host of options.allowedHosts ?? [])
    if (!HOST.test(host))
      throw invalid(
        `createServer(): allowedHosts has "${host}". Write names in full, such as "agents.example.com:8443".`,
      )
  if (options.apps === undefined) throw invalid('createServer(): apps is missing. Pass { name: agent }.')
  if (options.authenticate && options.token !== undefined)
    throw invalid('createServer(): got both authenticate and token. Pass one of them.')
}

/** The shortest token for other machines. Shorter ones can be guessed. */
const MIN_REMOTE_TOKEN = 16

/** Throws `INVALID_CONFIG` if other machines could reach a server that only a printed or a short token protects. */
export function checkBind({ authenticate, token, allowUnauthenticatedRemote }: ServerOptions, host: string): void {
  if (isLoopbackHost(host) || authenticate || allowUnauthenticatedRemote) return
  if (token !== undefined && token.length >= MIN_REMOTE_TOKEN) return
  if (token !== undefined)
    throw invalid(
      `listen(): other machines can reach "${host}", and \`token\` has ${token.length} characters. Use a random one with ${MIN_REMOTE_TOKEN} or more, or listen on 127.0.0.1.`,
    )
  throw invalid(
    `listen(): other machines can reach "${host}", and the server has no authentication. Set \`authenticate\` (see bearerTokens() and oidc()), or a \`token\` of your own, or listen on 127.0.0.1.`,
  )
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}

function checkPrune({ prune }: RecoverySweepOptions): void {
  if (prune === undefined) return
  checkOptions('createServer(), recover.prune', prune, PRUNE_RULES)
  if (prune.olderThan === undefined && prune.maxSessionsPerUser === undefined)
    throw invalid('createServer(): recover.prune needs olderThan, maxSessionsPerUser, or both.')
}
