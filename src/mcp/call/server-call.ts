import type {
  CallToolRequest,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  Progress,
} from '@modelcontextprotocol/client'
import type { ActiveCall, McpConnection } from '../connection/connection.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { CallTimeout } from './call-error.ts'

/** A question of the server that a human must answer (2025 protocol). */
export interface OpenElicitation {
  /** What the server asks. */
  readonly params: ElicitRequest['params']
}

/** What a call waits for next: its result, or the answer of a human. */
export type CallStep =
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'elicitation'; readonly elicitation: OpenElicitation }

/** Options of `ServerCall`. */
export interface ServerCallOptions {
  /** The connection. */
  readonly connection: McpConnection
  /** The tool. */
  readonly tool: ServerTool
  /** The arguments, and what a retried request of the 2026-07-28 protocol adds. */
  readonly params: Omit<CallToolRequest['params'], 'name'>
  /** The user of the call. */
  readonly userKey: string
  /** How long the server may take without progress, in milliseconds. */
  readonly timeoutMs: number
  /** Headers of the request. */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Called with progress of the server. */
  onProgress(progress: Progress): void
  /** Answers a sampling request. */
  sample(params: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult>
}

/** The client's own deadline is off: ours stops while a human answers. */
const NO_DEADLINE_MS = 2_147_483_647

/** A deadline cannot be extended beyond this, in milliseconds. */
const MAX_TOTAL_MS = 24 * 60 * 60 * 1000

/** One `tools/call` request that is under way. It outlives the attempt of the body that started it, if the server asks a human. */
export class ServerCall implements ActiveCall {
  readonly userKey: string
  readonly #options: ServerCallOptions
  readonly #abort = new AbortController()
  readonly #started = performance.now()
  readonly #response: Promise<unknown>
  #timer: ReturnType<typeof setTimeout> | undefined
  #elicitation: { readonly open: OpenElicitation; answer(result: ElicitResult): void } | undefined
  #onElicitation: (() => void) | undefined

  constructor(options: ServerCallOptions) {
    this.userKey = options.userKey
    this.#options = options
    this.#response = this.#send()
    this.#response.catch(() => {}) // `next` reports it
  }

  async #send(): Promise<unknown> {
    const { connection, tool, params, headers, onProgress } = this.#options
    const request = headers && connection.http.forRequest(headers)
    const end = connection.begin(this)
    this.#extend()
    try {
      return await connection.client.callTool(
        { ...params, name: tool.name },
        {
          signal: this.#abort.signal,
          timeout: NO_DEADLINE_MS,
          allowInputRequired: true,
          toolDefinition: tool.definition,
          ...(request && { headers: request.headers }),
          onprogress: (progress) => {
            this.#extend()
            onProgress(progress)
          },
        },
      )
    } catch (error) {
      throw this.#abort.signal.aborted ? this.#abort.signal.reason : error
    } finally {
      clearTimeout(this.#timer)
      request?.done()
      end()
    }
  }

  /** Waits for the result, or for the next question of the server. */
  async next(): Promise<CallStep> {
    const asked = new Promise<void>((resolve) => {
      this.#onElicitation = resolve
    })
    const result = this.#elicitation
      ? undefined
      : await Promise.race([this.#response.then((value) => ({ value })), asked])
    if (result) return { type: 'result', result: result.value }
    // set before `asked` is resolved
    return { type: 'elicitation', elicitation: (this.#elicitation as { open: OpenElicitation }).open }
  }

  /** Answers the open question. The time for the call starts again. */
  answer(result: ElicitResult): void {
    const elicitation = this.#elicitation
    this.#elicitation = undefined
    this.#extend()
    elicitation?.answer(result)
  }

  /** Cancels the call at the server. */
  abort(reason: unknown): void {
    this.#abort.abort(reason)
  }

  /** Asks a human. The time for the call does not run meanwhile. A second question at the same time is declined. */
  elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    if (this.#elicitation) return Promise.resolve({ action: 'decline' })
    clearTimeout(this.#timer)
    return new Promise((resolve) => {
      this.#elicitation = { open: { params }, answer: resolve }
      signal.addEventListener('abort', () => this.#forget(resolve), { once: true })
      this.#onElicitation?.()
    })
  }

  /** The server no longer waits for the answer. */
  #forget(resolve: (result: ElicitResult) => void): void {
    if (this.#elicitation?.answer === resolve) this.answer({ action: 'cancel' })
  }

  /** Answers a sampling request with the model. The time for the call starts again afterwards. */
  async sample(params: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult> {
    clearTimeout(this.#timer)
    try {
      return await this.#options.sample(params, signal)
    } finally {
      this.#extend()
    }
  }

  #extend(): void {
    clearTimeout(this.#timer)
    if (this.#elicitation || this.#abort.signal.aborted) return
    const { timeoutMs } = this.#options
    const left = MAX_TOTAL_MS - (performance.now() - this.#started)
    this.#timer = setTimeout(() => this.abort(new CallTimeout(timeoutMs)), Math.max(1, Math.min(timeoutMs, left)))
  }
}
