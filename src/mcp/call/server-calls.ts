import type { JsonObject } from '../../base/json.ts'
import { ToolError } from '../../error/error.ts'
import type { ToolContext } from '../../tool/context.ts'
import { keepParts } from '../../tool/result-parts.ts'
import { type McpConnection, RefusedError } from '../connection/connection.ts'
import type { ServerLink } from '../connection/server-link.ts'
import { userKeyOf } from '../identity.ts'
import type { McpToolsetOptions } from '../mcp-toolset-options.ts'
import type { DataSource } from '../server-data.ts'
import { toToolError } from './call-error.ts'
import { toQuestion } from './elicitation.ts'
import { HeldCalls } from './held-calls.ts'
import { maskSecrets } from './mask-secrets.ts'
import type { ShownProgress, ToolCall } from './mcp-tool.ts'
import { type CallConnection, runCall } from './run-call.ts'
import { sampler } from './sampling.ts'

/** The calls of a toolset to its server. No secret of the connection is in their results, errors and questions. */
export class ServerCalls {
  readonly #server: string
  readonly #options: McpToolsetOptions
  readonly #link: ServerLink
  readonly #held = new HeldCalls()

  constructor(server: string, options: McpToolsetOptions, link: ServerLink) {
    this.#server = server
    this.#options = options
    this.#link = link
  }

  /** Calls a tool. If the server refuses the credential, another one is resolved and the call is sent once more. */
  async call(call: ToolCall, isRefused = false): Promise<JsonObject | undefined> {
    const { tool, effect, args, context, onProgress } = call
    const { identities } = this.#link
    if (!(await identities.authorize(context, isRefused))) return undefined
    const secrets = await this.#link.secrets(context)
    let connection: McpConnection | undefined
    const connect = async (): Promise<CallConnection> => {
      const headers = this.#options.headers && (await identities.headers(context))
      connection = await this.#link.connect(context)
      return { connection, headers, userKey: userKeyOf(context) }
    }
    const { callTimeoutMs: timeoutMs = 60_000, sampling } = this.#options
    const environment = {
      server: this.#server,
      connect,
      held: this.#held,
      timeoutMs,
      effect,
      sample: sampler(sampling),
      question: (params: unknown) => toQuestion(this.#server, maskSecrets(params, secrets)),
      onProgress: (progress: ShownProgress) => onProgress(maskSecrets(progress, secrets)),
    }
    try {
      return maskResult(await runCall(environment, tool, args, context), secrets)
    } catch (error) {
      const refusal = refusalIn(error) ?? connection?.http.takeRefusal()
      if (!refusal || context.signal.aborted) throw maskError(error, secrets)
      if (isRefused)
        throw new ToolError(`The MCP server "${this.#server}" refuses the credential.`, { code: 'AUTH_FAILED' })
      await identities.refused(context, refusal.challenge, context.signal)
      return await this.call(call, true)
    }
  }

  /** Reads resources or prompts. */
  async read(context: ToolContext, ask: Parameters<DataSource['read']>[1]): Promise<JsonObject> {
    const secrets = await this.#link.secrets(context)
    const { callTimeoutMs: timeout = 60_000 } = this.#options
    try {
      const { client } = await this.#link.connect(context)
      return maskResult(await ask(client, { signal: context.signal, timeout }), secrets) ?? {}
    } catch (error) {
      throw maskError(toToolError(error, context.tool.name, 'none'), secrets)
    }
  }

  /** Cancels the calls that wait for a human. */
  close(): void {
    this.#held.close()
  }
}

/** The refusal behind an error of a call. */
function refusalIn(error: unknown): RefusedError | undefined {
  const { cause } = error as { cause?: unknown }
  return cause instanceof RefusedError ? cause : undefined
}

/** The result without the secrets of the connection: servers repeat them in logs and errors. */
function maskResult(result: JsonObject | undefined, secrets: readonly string[]): JsonObject | undefined {
  return secrets.length ? (keepParts(result, maskSecrets(result, secrets)) as JsonObject | undefined) : result
}

function maskError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof ToolError)) return error
  return new ToolError(maskSecrets(error.message, secrets), { code: error.code, cause: error.cause })
}
