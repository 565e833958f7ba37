import type {
  CallToolRequest,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  Progress,
} from '@modelcontextprotocol/client'
import { clip } from '../../../core/base/limits.ts'
import type { ActiveCall } from '../connection/active-calls.ts'
import { type McpConnection, RefusedError } from '../connection/connection.ts'
import { AFTER_RESPONSE_MS, MAX_CALL_MS, MAX_PROGRESS_LENGTH } from '../limits.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { CallTimeout, isJsonRpcError, ResponseEnded } from './call-error.ts'
import type { ShownProgress } from './mcp-tool.ts'

/** A question of the server that a human must answer (2025 protocol). */
interface OpenElicitation {
  /** What the server asks. */
  readonly params: ElicitRequest['params']
}

/** What a call waits for next: its result, or the answer of a human. */
type CallStep =
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
  onProgress(progress: ShownProgress): void
  /** Answers a sampling request. */
  sample(params: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult>
}

/** The members of progress that users see. A server may add others. */
function shownProgress({ progress, total, message }: Progress): ShownProgress {
  return {
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message: clip(message, MAX_PROGRESS_LENGTH) }),
  }
}

/** The client's own deadline is off: ours stops while a human answers. */
const NO_DEADLINE_MS = 2_147_483_647

/** One `tools/call` request that is under way. It outlives the attempt of the body that started it, if the server asks a human. */
export class ServerCall implements ActiveCall {
  readonly userKey: string
  readonly #options: ServerCallOptions
  readonly #abort = new AbortController()
  readonly #started = performance.now()
  readonly #response: Promise<unknown>
  #timer: ReturnType<typeof setTimeout> | undefined
  #endTimer: ReturnType<typeof setTimeout> | undefined
  #isOver = false
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
    const request = connection.isHttp ? connection.http.track(headers ?? {}, () => this.#responseEnded()) : undefined
    const end = connection.begin(this)
    let isAnswered = false
    this.#extend()
    try {
      const result = await connection.client.callTool(
        { ...params, name: tool.name },
        {
          signal: this.#abort.signal,
          timeout: NO_DEADLINE_MS,
          allowInputRequired: true,
          toolDefinition: tool.definition,
          ...(request && { headers: request.headers }),
          onprogress: (progress) => {
            this.#extend()
            onProgress(shownProgress(progress))
          },
        },
      )
      isAnswered = true
      return result
    } catch (error) {
      isAnswered = isJsonRpcError(error)
      if (this.#abort.signal.aborted) throw this.#abort.signal.reason
      const refusal = request?.refusal
      throw refusal ? new RefusedError(refusal.status, refusal.challenge, error) : error
    } finally {
      this.#isOver = true
      clearTimeout(this.#timer)
      clearTimeout(this.#endTimer)
      request?.done()
      end(isAnswered)
    }
  }

  /** The HTTP response has ended. The client may still read the answer from it; else there is none. */
  #responseEnded(): void {
    this.#endTimer ??= setTimeout(() => this.abort(new ResponseEnded()), AFTER_RESPONSE_MS)
  }

  /** Waits for the result, or for the next question of the server. */
  async next(): Promise<CallStep> {
    const response = this.#response.then((result): CallStep => ({ type: 'result', result }))
    for (;;) {
      if (this.#elicitation) return { type: 'elicitation', elicitation: this.#elicitation.open }
      const asked = new Promise<undefined>((resolve) => {
        this.#onElicitation = () => resolve(undefined)
      })
      const step = await Promise.race([response, asked])
      if (step) return step
      // else there is a question, unless the server has taken it back at once
    }
  }

  /** Answers the open question. The time for the call starts again. */
  answer(result: ElicitResult): void {
    const elicitation = this.#elicitation
    this.#elicitation = undefined
    this.#extend()
    elicitation?.answer(result)
  }

  /** Cancels the call at the server, and its open question. */
  abort(reason: unknown): void {
    this.#abort.abort(reason)
    this.answer({ action: 'cancel' })
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
    if (this.#elicitation || this.#isOver || this.#abort.signal.aborted) return
    const { timeoutMs } = this.#options
    const left = MAX_CALL_MS - (performance.now() - this.#started)
    this.#timer = setTimeout(() => this.abort(new CallTimeout(timeoutMs)), Math.max(1, Math.min(timeoutMs, left)))
  }
}
