import type { JsonObject } from '../../core/base/json.ts'
import type { Ports } from '../../core/base/ports.ts'
import {
  callback,
  checkOptions,
  flag,
  name,
  type OptionRules,
  objectWith,
  type Rule,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import type { ReadonlyContext, ToolContext } from '../../engine/context/context.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { isEndpoint } from '../../services/auth/config/endpoint.ts'
import type { ApiOperation } from './operation.ts'
import type { AuthOption } from './security/auth-option.ts'

/** Options of every toolset that calls an API. */
export interface ApiToolsetOptions {
  /** The name in warnings and errors. Default: `openapi`. */
  readonly name?: string | undefined
  /** The address of the API. Replaces every server URL of the document, path included. Default: the servers of the document. */
  readonly baseUrl?: string | undefined
  /**
   * Further origins that get the credentials and the headers of the toolset, such as `https://uploads.example.com`. Default:
   * none. Only the origin of the API gets them: that of `baseUrl`, or of the first server of the whole document.
   */
  readonly trustedOrigins?: readonly string[] | undefined
  /** Values for the variables of server URLs. Default: the defaults of the document. */
  readonly serverVariables?: { readonly [name: string]: string } | undefined
  /** The operations that become tools: their names, or a function that is called at each listing. Default: all. */
  readonly toolFilter?: readonly string[] | ((tool: Tool, context: ReadonlyContext) => boolean) | undefined
  /** A prefix for the names of the tools, such as `shop_`. Default: none. */
  readonly prefix?: string | undefined
  /** Headers for each request, such as a tenant or a key. They replace headers of the same name from arguments. Default: none. */
  readonly headers?: ((context: ToolContext) => HeadersOption | Promise<HeadersOption>) | undefined
  /**
   * The credentials: one configuration for the API, or one for each security scheme of the document. `authScheme` may be left
   * out: it is that of the document. `anonymous` sends none, whatever the document asks for. Default: none. An operation whose
   * document asks for a credential then needs it in `headers`, or fails.
   */
  readonly auth?: AuthOption | undefined
  /** Wait for an approval: for every call, for the operations of these names, or where the function returns true. Default false. */
  readonly requiresConfirmation?: ConfirmationOption | undefined
  /** The approver may send other arguments: for every call, or for the operations of these names. Default false. */
  readonly allowEditedArgs?: boolean | readonly string[] | undefined
  /** Wait for an approval of every call but GET, HEAD and OPTIONS. Default false. */
  readonly confirmUnsafe?: boolean | undefined
  /** The header in which the API accepts a key that makes a repeated call harmless, such as `Idempotency-Key`. Default: none. */
  readonly idempotencyHeader?: string | undefined
  /** How often a call that may be repeated is sent again after a lost connection or status 429, 502, 503, 504. Default 2. */
  readonly retries?: number | undefined
  /** The most bytes of a response, after decompression. Default 10 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Deadline of each call in milliseconds. Default: `toolTimeoutMs` of the runner. */
  readonly timeoutMs?: number | undefined
  /** Gets the problems of the document. Default: `console`. */
  readonly logger?: Logger | undefined
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Time and randomness, for tests. Default: those of the system. */
  readonly ports?: Partial<Ports> | undefined
}

/** Names and values of headers. */
export type HeadersOption = { readonly [name: string]: string }

/** Which calls wait for an approval. */
export type ConfirmationOption =
  | boolean
  | readonly string[]
  | ((args: JsonObject, context: ReadonlyContext, operation: ApiOperation) => boolean | Promise<boolean>)

const address: Rule = {
  expects: 'an http or https URL such as "https://api.example.com/v1"',
  accepts: (value) => typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value),
}
const origins: Rule = {
  expects: 'a list of https origins such as "https://uploads.example.com", or of http origins of a loopback address',
  accepts: (value) => Array.isArray(value) && value.every(isOrigin),
}
const texts: Rule = {
  expects: 'an object with strings',
  accepts: (value) => record.accepts(value) && Object.values(value as JsonObject).every(text.accepts),
}
const listOrCallback: Rule = {
  expects: 'a list of names or a function',
  accepts: (value) => callback.accepts(value) || isNameList(value),
}
const confirmation: Rule = {
  expects: 'a boolean, a list of names of operations, or a function',
  accepts: (value) => typeof value === 'boolean' || listOrCallback.accepts(value),
}
const flagOrNames: Rule = {
  expects: 'a boolean, or a list of names of operations',
  accepts: (value) => typeof value === 'boolean' || isNameList(value),
}
const authOption: Rule = {
  expects: 'an AuthConfig, an object with one for each security scheme, or "anonymous"',
  accepts: (value) => value === 'anonymous' || record.accepts(value),
}
const headerName: Rule = {
  expects: 'the name of a header',
  accepts: (value) => typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value),
}
const milliseconds: Rule = {
  expects: 'a positive number of milliseconds',
  accepts: (value) => typeof value === 'number' && value > 0,
}

/** The rules of the shared options. */
const API_TOOLSET_RULES: OptionRules<ApiToolsetOptions> = {
  name,
  baseUrl: address,
  trustedOrigins: origins,
  serverVariables: texts,
  toolFilter: listOrCallback,
  prefix: name,
  headers: callback,
  auth: authOption,
  requiresConfirmation: confirmation,
  allowEditedArgs: flagOrNames,
  confirmUnsafe: flag,
  idempotencyHeader: headerName,
  retries: wholeNumber(0),
  maxResponseBytes: wholeNumber(1),
  timeoutMs: milliseconds,
  logger: objectWith('warn'),
  fetch: callback,
  ports: record,
}

/** Throws INVALID_CONFIG if an option is unknown or has the wrong type. */
export function checkApiOptions(what: string, options: unknown, more: { readonly [option: string]: Rule }): void {
  checkOptions(what, options, { ...API_TOOLSET_RULES, ...more })
}

function isOrigin(value: unknown): boolean {
  if (!isEndpoint(value)) return false
  const { origin, href } = new URL(value)
  return href === `${origin}/`
}

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every(text.accepts)
}
