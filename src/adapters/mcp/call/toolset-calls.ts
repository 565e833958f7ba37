// The calls of a toolset: each with the credential of its user, and without the secrets of the connection in its result.
import type { JsonObject } from '../../../core/base/json.ts'
import { messageOf, ToolError } from '../../../core/error/error.ts'
import type { ReadonlyContext, ToolContext } from '../../../engine/context/context.ts'
import { keepParts } from '../../../engine/context/result-parts.ts'
import { type McpConnection, RefusedError } from '../connection/connection.ts'
import { failureReason } from '../connection/failure-reason.ts'
import { type Identities, userKeyOf } from '../identity.ts'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'
import type { DataSource } from '../resources-and-prompts.ts'
import { isJsonRpcError, isLostConnection, toToolError } from './call-error.ts'
import { toQuestion } from './elicitation.ts'
import { maskSecrets, secretsOf } from './mask-secrets.ts'
import type { ToolCall } from './mcp-tool.ts'
import { OpenCalls } from './open-calls.ts'
import { type CallConnection, type CallEnvironment, runCall } from './run-call.ts'
import { sampler } from './sampling.ts'
import { sessionLoss } from './session-loss.ts'

/** What the calls need from their toolset. */
export interface CallingToolset {
  /** The name of the toolset. */
  readonly name: string
  /** The options of the toolset. */
  readonly options: McpToolsetOptions
  /** The credentials of its users. */
  readonly identities: Identities
  /** The connection of the user. */
  connect(context: ReadonlyContext): Promise<McpConnection>
}

/** How long a call may take without progress, in milliseconds, if the toolset does not say. */
const CALL_TIMEOUT_MS = 60_000

/** The calls of a toolset. */
export class ToolsetCalls {
  readonly #toolset: CallingToolset
  readonly #openCalls = new OpenCalls()

  constructor(toolset: CallingToolset) {
    this.#toolset = toolset
  }

  /** Calls a tool. If the server refuses the credential, another one is resolved and the call is sent once more. */
  async call(call: ToolCall, isRefused = false): Promise<JsonObject | undefined> {
    const { tool, args, context } = call
    const { name, identities } = this.#toolset
    if (!(await identities.authorize(context, isRefused))) return undefined
    const headers = await identities.headers(context)
    const secrets = this.#secretsIn(headers)
    let connection: McpConnection | undefined
    const connect = async (): Promise<CallConnection> => {
      connection = await this.#toolset.connect(context)
      return { connection, headers: this.#toolset.options.headers && headers, userKey: userKeyOf(context) }
    }
    try {
      return maskResult(await runCall(this.#environment(call, connect, secrets), tool, args, context), secrets)
    } catch (error) {
      const refusal = refusalIn(error) ?? (isRefusedPost(error) ? connection?.http.takeRefusal() : undefined)
      if (!refusal || context.signal.aborted) throw maskError(error, secrets)
      if (isRefused) throw new ToolError(`The MCP server "${name}" refuses the credential.`, { code: 'AUTH_FAILED' })
      await identities.refused(context, refusal.challenge, context.signal)
      return await this.call(call, true)
    }
  }

  #environment(
    { effect, onProgress }: ToolCall,
    connect: CallEnvironment['connect'],
    secrets: string[],
  ): CallEnvironment {
    const { name: server, options } = this.#toolset
    return {
      server,
      connect,
      openCalls: this.#openCalls,
      origin: options.connection.type === 'stdio' ? undefined : new URL(options.connection.url).origin,
      timeoutMs: options.callTimeoutMs ?? CALL_TIMEOUT_MS,
      effect,
      sample: sampler(options.sampling),
      question: (params) => toQuestion(server, maskSecrets(params, secrets)),
      onProgress: (progress) => onProgress(maskSecrets(progress, secrets)),
    }
  }

  /** Reads data of the server. */
  readonly read: DataSource['read'] = async (context: ToolContext, ask) => {
    const sent = await this.#toolset.identities.headers(context)
    const secrets = this.#secretsIn(sent)
    try {
      return maskResult(await this.#ask(context, sent, ask), secrets) ?? {}
    } catch (error) {
      throw maskError(toToolError(error, context.tool.name, 'none'), secrets)
    }
  }

  /** Asks the server. If its session or the connection is lost, another one is opened and the server is asked once more. */
  async #ask(
    context: ToolContext,
    sent: Readonly<Record<string, string>>,
    ask: Parameters<DataSource['read']>[1],
    isRepeated = false,
  ): Promise<JsonObject> {
    const { callTimeoutMs: timeout = CALL_TIMEOUT_MS, headers } = this.#toolset.options
    const { signal } = context
    const connection = await this.#toolset.connect(context)
    const { client, http, isHttp } = connection
    // sessions of one user share the connection, but not always the headers
    const request = isHttp && headers ? http.track(sent, () => {}) : undefined
    try {
      return await ask(client, { signal, timeout, ...(request && { headers: request.headers }) })
    } catch (error) {
      const loss = await sessionLoss(connection, error, signal)
      if (loss) await connection.abandon()
      if (isRepeated || signal.aborted || !(loss || isLostConnection(error))) throw error
    } finally {
      request?.done()
    }
    return await this.#ask(context, sent, ask, true)
  }

  /** Why the server cannot be used, without the secrets that the server knows. */
  async failureReason(error: unknown, context: ReadonlyContext): Promise<string> {
    const reason = failureReason(error, this.#toolset.options.connection)
    return maskSecrets(reason, await this.#secretsOf(context).catch(() => this.#secretsIn({})))
  }

  async #secretsOf(context: ReadonlyContext): Promise<string[]> {
    return this.#secretsIn(await this.#toolset.identities.headers(context))
  }

  /** The secrets that the server knows: headers, and environment variables and parameters of its URL with telling names. */
  #secretsIn(headers: Readonly<Record<string, string>>): string[] {
    const { connection } = this.#toolset.options
    const named =
      connection.type === 'stdio' ? Object.entries(connection.env ?? {}) : [...new URL(connection.url).searchParams]
    const secret = named.filter(([name]) => /key|token|secret|password|credential/i.test(name))
    return [...secretsOf(headers), ...secretsOf(Object.fromEntries(secret))]
  }

  /** Cancels the calls that wait for a human. */
  close(): void {
    this.#openCalls.close()
  }
}

/** The refusal behind an error of a call. */
function refusalIn(error: unknown): RefusedError | undefined {
  const { cause } = error as { cause?: unknown }
  return cause instanceof RefusedError ? cause : undefined
}

/**
 * Did the older SSE transport report a refused request? It names the status only in the message, and requests of it cannot be
 * tracked. Any other failure says nothing about the credential, and the call may have run.
 */
function isRefusedPost(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }
  return !isJsonRpcError(cause) && /^Error POSTing to endpoint \(HTTP 40[13]\)/.test(messageOf(cause))
}

/** The result without the secrets of the connection: servers repeat them in logs and errors. */
function maskResult(result: JsonObject | undefined, secrets: readonly string[]): JsonObject | undefined {
  return secrets.length ? (keepParts(result, maskSecrets(result, secrets)) as JsonObject | undefined) : result
}

function maskError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof ToolError)) return error
  return new ToolError(maskSecrets(error.message, secrets), { code: error.code, cause: error.cause })
}
