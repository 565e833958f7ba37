import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import type { AuthConfig } from '../../core/content/auth.ts'
import {
  anything,
  callback,
  checkOptions,
  flag,
  gate,
  list,
  name,
  type OptionRules,
  oneOf,
  record,
  text,
  wholeNumber,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { ReadonlyContext, ToolContext } from '../../engine/context/context.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { Model } from '../../engine/model/model.ts'
import type { Effect } from '../../engine/tool/tool.ts'
import { isEndpoint } from '../../services/auth/config/endpoint.ts'
import { programName } from './program-name.ts'

/** A local MCP server, which the toolset starts. It is started without a shell. */
export interface StdioConnection {
  /** A local process that speaks MCP on stdin and stdout. */
  readonly type: 'stdio'
  /** The program, such as `npx`. */
  readonly command: string
  /** Its arguments. Default: none. */
  readonly args?: readonly string[] | undefined
  /** Environment variables of the process, besides PATH, HOME and the like. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Its working directory. Default: that of this process. */
  readonly cwd?: string | undefined
}

/** A remote MCP server. */
export interface HttpConnection {
  /** `http` for Streamable HTTP, `sse` for the older transport with server-sent events. */
  readonly type: 'http' | 'sse'
  /** The URL of the server. */
  readonly url: string | URL
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How long the server may send nothing in a response, in milliseconds. Default 300,000. */
  readonly readTimeoutMs?: number | undefined
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Ends the session at the server when the connection closes. Default true. */
  readonly terminateOnClose?: boolean | undefined
  /**
   * May the server name an authorization server at a private address? Set it only if yours is in your own network: any MCP
   * server could otherwise send requests of this process there. Default false, unless the MCP server is on this machine.
   */
  readonly allowPrivateAuthorizationServer?: boolean | undefined
}

/** What the server says about a tool. These are hints of the server: it may say anything. */
export interface ToolAnnotations {
  /** A name for humans. */
  readonly title?: string
  /** The tool changes nothing. */
  readonly readOnlyHint?: boolean
  /** The tool may delete or overwrite. */
  readonly destructiveHint?: boolean
  /** Calling it twice does the same as calling it once. */
  readonly idempotentHint?: boolean
  /** The tool works with things outside the server. */
  readonly openWorldHint?: boolean
}

/** A tool as the server lists it. */
export interface ServerToolInfo {
  /** The name at the server. */
  readonly name: string
  /** The description at the server. */
  readonly description: string
  /** Hints of the server. */
  readonly annotations: ToolAnnotations
}

/** Progress that a server reports about a call. */
export interface McpProgress {
  /** The tool, by its name at the server. */
  readonly tool: string
  /** How far the call is. */
  readonly progress: number
  /** The value of `progress` at the end, if the server knows it. */
  readonly total?: number | undefined
  /** What the server does now. */
  readonly message?: string | undefined
}

/** How OAuth servers see this client, when it registers itself. */
export interface McpClientMetadata {
  /** The name that users see when they consent. Default: `appName` of the runner. */
  readonly clientName?: string | undefined
  /** The home page of the client. */
  readonly clientUri?: string | undefined
  /** Where the browser returns after the consent. Default: the `redirectUri` of the credential. */
  readonly redirectUris?: readonly string[] | undefined
  /** The https URL of your client metadata document. It is the client id at servers that support such documents. */
  readonly clientMetadataUrl?: string | undefined
}

/** Options of `McpToolset`. */
export interface McpToolsetOptions {
  /** The name in pins, warnings and questions. Default: the program or the host of the server. */
  readonly name?: string | undefined
  /** How to reach the server. */
  readonly connection: StdioConnection | HttpConnection
  /** The tools to use: their names at the server, or a function. An empty list uses none. Default: all. */
  readonly toolFilter?: readonly string[] | ((tool: ServerToolInfo, context: ReadonlyContext) => boolean) | undefined
  /** Put before the name of each tool, as it is. Default: none. */
  readonly prefix?: string | undefined
  /** How long connecting may take, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number | undefined
  /** How long a call may take without progress, in milliseconds. Time a human takes does not count. Default 60,000. */
  readonly callTimeoutMs?: number | undefined
  /** Returns headers for a request, such as a token of the user. Connections are then separate for each user. */
  readonly headers?:
    | ((context: ReadonlyContext) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined
  /** The credential for the server. Without `authScheme`, the server is asked what it wants. */
  readonly auth?: AuthConfig | undefined
  /** How OAuth servers see this client. */
  readonly clientMetadata?: McpClientMetadata | undefined
  /** Wait for an approval before every call, or before calls where the function returns true. Default false. */
  readonly requiresConfirmation?:
    | boolean
    | ((args: JsonObject, context: ReadonlyContext, tool: ServerToolInfo) => boolean | Promise<boolean>)
    | undefined
  /** The approver may send other arguments: for every tool, or for the tools of these names at the server. Default false. */
  readonly allowEditedArgs?: boolean | readonly string[] | undefined
  /** The side effects of a tool. Default: `atMostOnce` for every tool, whatever the server says. */
  readonly effect?: ((name: string, annotations: ToolAnnotations) => Effect) | undefined
  /** Called with the progress of calls. */
  readonly onProgress?: ((progress: McpProgress, context: ToolContext) => void) | undefined
  /** Adds the tool `load_mcp_resource`, which lists and reads the resources of the server. Default false. */
  readonly resources?: boolean | undefined
  /** Adds the tool `load_mcp_prompt`, which lists and gets the prompts of the server. Default false. */
  readonly prompts?: boolean | undefined
  /** The model that answers sampling requests of the server. Default: sampling is off. */
  readonly sampling?: Model | undefined
  /** Receives warnings, such as changed tools. Default: `console`. */
  readonly logger?: Logger | undefined
}

const RULES: OptionRules<McpToolsetOptions> = {
  name,
  connection: record,
  toolFilter: {
    expects: 'a list of names or a function',
    accepts: (value) => Array.isArray(value) || typeof value === 'function',
  },
  prefix: text,
  connectTimeoutMs: wholeNumber(1),
  callTimeoutMs: wholeNumber(1),
  headers: callback,
  auth: record,
  clientMetadata: record,
  requiresConfirmation: gate,
  allowEditedArgs: {
    expects: 'a boolean or a list of names',
    accepts: (value) => typeof value === 'boolean' || Array.isArray(value),
  },
  effect: callback,
  onProgress: callback,
  resources: flag,
  prompts: flag,
  sampling: anything,
  logger: record,
}
const STDIO_RULES: OptionRules<StdioConnection> = {
  type: text,
  command: name,
  args: list,
  env: record,
  cwd: text,
}
const CONNECTION_TYPES = oneOf('stdio', 'http', 'sse')
const HTTP_RULES: OptionRules<HttpConnection> = {
  type: oneOf('http', 'sse'),
  url: anything,
  headers: record,
  readTimeoutMs: wholeNumber(1),
  fetch: callback,
  terminateOnClose: flag,
  allowPrivateAuthorizationServer: flag,
}

/** Throws INVALID_CONFIG if the options of `McpToolset` are invalid. Returns the default name of the toolset. */
export function checkMcpOptions(options: McpToolsetOptions): string {
  checkOptions('McpToolset', options, RULES)
  const { connection } = options
  if (!isRecord(connection)) throw invalid(`McpToolset: connection must be an object, got ${kindOf(connection)}.`)
  if (!CONNECTION_TYPES.accepts(connection.type))
    throw invalid(`McpToolset: connection.type must be ${CONNECTION_TYPES.expects}, got ${kindOf(connection.type)}.`)
  if (connection.type === 'stdio') return checkStdio(connection)
  checkOptions('McpToolset: connection', connection, HTTP_RULES)
  return checkHttp(connection, options)
}

function checkStdio(connection: StdioConnection): string {
  checkOptions('McpToolset: connection', connection, STDIO_RULES)
  const { command, args = [], env = {} } = connection
  if (command === undefined)
    throw invalid(
      'McpToolset: a stdio connection needs a command, such as { type: "stdio", command: "npx", args: [] }.',
    )
  const texts = [command, ...args, ...Object.values(env), connection.cwd ?? '']
  const wrong = texts.find((one) => typeof one !== 'string' || one.includes('\0'))
  if (wrong !== undefined)
    throw invalid(`McpToolset: command, args, env and cwd must be strings without NUL, got ${kindOf(wrong)}.`)
  return programName(command, args)
}

function checkHttp({ url, headers = {} }: HttpConnection, { auth, headers: provider }: McpToolsetOptions): string {
  if (!URL.canParse(String(url))) throw invalid('McpToolset: connection.url is not a URL. Use an absolute http(s) URL.')
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw invalid(
      `McpToolset: connection.url must be an http or https URL, got "${parsed.protocol}". Start it with http:// or https://.`,
    )
  if (parsed.username !== '' || parsed.password !== '')
    throw invalid('McpToolset: remove the user name and the password from connection.url. Use `auth` instead.')
  parsed.hash = ''
  const { authScheme } = auth ?? {}
  if (authScheme?.type === 'apiKey' && authScheme.in === 'query')
    throw invalid(
      'McpToolset: an API key in the query cannot be sent. Use { in: "header" }, or put the key into connection.url.',
    )
  const hasSecret = auth !== undefined || provider !== undefined || Object.keys(headers).some(isSecretHeader)
  if (hasSecret && !isEndpoint(String(parsed)))
    throw invalid('McpToolset: credentials would be sent unencrypted. Use an https URL, or a server on this machine.')
  return parsed.host
}

function isSecretHeader(header: string): boolean {
  return /^(?:authorization|cookie|proxy-authorization|x-api|x-auth)/i.test(header)
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
