// The body of an MCP tool: calls the server, and turns its questions into pauses of the run.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import { CallContext } from '../../../engine/context/call-context.ts'
import type { AnsweredInput, ToolContext } from '../../../engine/context/context.ts'
import type { Effect } from '../../../engine/tool/tool.ts'
import { MAX_ROUNDS, OPEN_CALL_MS } from '../limits.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import { isLostConnection, toToolError } from './call-error.ts'
import { type Question, requestLinks, sealable, toElicitResult } from './elicitation.ts'
import { answeredRound, type RoundParams, requestRound } from './input-required.ts'
import type { OpenCalls } from './open-calls.ts'
import { readResult } from './read-result.ts'
import { ServerCall, type ServerCallOptions } from './server-call.ts'
import { type SessionLoss, sessionLoss } from './session-loss.ts'

/** The connection of a call, and what is sent with it. */
export type CallConnection = Pick<ServerCallOptions, 'connection' | 'headers' | 'userKey'>

/** What a call needs from its toolset. */
export interface CallEnvironment {
  /** The name of the toolset. */
  readonly server: string
  /** The question of an elicitation. Undefined if it cannot be asked. */
  question(params: unknown): Question | undefined
  /** The connection of the user, and the headers of this request. */
  connect(): Promise<CallConnection>
  /** Calls that wait for a human. */
  readonly openCalls: OpenCalls
  /** The origin of the server. Undefined for a process. */
  readonly origin: string | undefined
  /** How long the server may take without progress, in milliseconds. */
  readonly timeoutMs: number
  /** The side effects of the tool. */
  readonly effect: Effect
  /** Answers sampling requests. */
  readonly sample: ServerCallOptions['sample']
  /** Called with progress of the server. */
  readonly onProgress: ServerCallOptions['onProgress']
}

/** The body: returns the response, or undefined after a request to the user. */
export async function runCall(
  environment: CallEnvironment,
  tool: ServerTool,
  args: JsonObject,
  context: ToolContext,
): Promise<JsonObject | undefined> {
  const attempt = new CallAttempt(environment, tool, args, context)
  try {
    return await attempt.run()
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason
    if (requestLinks(error, environment.question, context)) return undefined
    throw toToolError(error, tool.name, environment.effect)
  }
}

/** What the sealed data of a question of the 2025 protocol holds. */
interface SealedElicitation {
  readonly protocol: '2025'
  readonly params: JsonObject
}

class CallAttempt {
  readonly #environment: CallEnvironment
  readonly #tool: ServerTool
  readonly #context: ToolContext
  readonly #args: JsonObject
  /** Answers of earlier attempts that this process holds no connection for. */
  readonly #recorded: AnsweredInput[]
  #requests = 0
  #hasRepeated = false

  constructor(environment: CallEnvironment, tool: ServerTool, args: JsonObject, context: ToolContext) {
    this.#environment = environment
    this.#tool = tool
    this.#args = args
    this.#context = context
    this.#recorded = context.answeredInputs().filter(({ sealed }) => isSealedElicitation(sealed))
  }

  async run(): Promise<JsonObject | undefined> {
    const waiting = this.#environment.openCalls.take(this.#context.idempotencyKey)
    if (waiting) {
      const answered = this.#recorded.findLast(({ key }) => key === waiting.inputKey)
      this.#recorded.length = 0
      waiting.call.answer(answered ? toElicitResult(answered, sealedParams(answered)) : { action: 'cancel' })
      return await this.#follow(waiting.call)
    }
    if (this.#recorded.length && !this.#isRepeatable) {
      const problem = `The connection that asked the question of tool "${this.#tool.name}" is gone`
      throw new ToolError(`${problem}, so the answer could not be delivered. The call may have taken effect.`, {
        code: 'UNKNOWN_OUTCOME',
      })
    }
    return await this.#send(answeredRound(this.#context))
  }

  /** Does running the call twice do no harm? */
  get #isRepeatable(): boolean {
    const { effect } = this.#environment
    return effect === 'none' || effect === 'idempotent'
  }

  /** Sends the call. In a later round of the 2026-07-28 protocol, `round` holds the answers. */
  async #send(round: RoundParams): Promise<JsonObject | undefined> {
    // the server may ask for sampling again and again
    if (++this.#requests > MAX_ROUNDS)
      throw new ToolError(`Tool "${this.#tool.name}" asked for more than ${MAX_ROUNDS} rounds.`)
    const { connect, timeoutMs, sample, onProgress, origin } = this.#environment
    const traceparent = origin === undefined ? undefined : CallContext.traceparentFor(this.#context, origin)
    const params = { arguments: this.#args, ...round, ...(traceparent !== undefined && { _meta: { traceparent } }) }
    const connected = await connect().catch((error: unknown) => {
      const problem = `The MCP server of tool "${this.#tool.name}" cannot be reached, so the call was not sent`
      throw new ToolError(`${problem}. Try again later, or answer without it.`, { cause: error })
    })
    try {
      return await this.#follow(
        new ServerCall({ ...connected, tool: this.#tool, params, timeoutMs, sample, onProgress }),
      )
    } catch (error) {
      const { connection } = connected
      const loss = await sessionLoss(connection, error, this.#context.signal)
      if (loss) await connection.abandon()
      if (!this.#mayRepeat(error, loss)) throw error
      this.#hasRepeated = true
      return await this.#send(round)
    }
  }

  /** May the request be sent again? Only if the server has not run it, or if running it twice does no harm. */
  #mayRepeat(error: unknown, loss: SessionLoss | undefined): boolean {
    if (this.#hasRepeated || this.#context.signal.aborted) return false
    return loss === 'not-run' || ((loss !== undefined || isLostConnection(error)) && this.#isRepeatable)
  }

  /** Waits for the result. A question of the server becomes an input request; then the attempt ends without a result. */
  async #follow(call: ServerCall): Promise<JsonObject | undefined> {
    const { signal } = this.#context
    const abort = (): void => call.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      for (;;) {
        const step = await call.next()
        if (step.type === 'result') return await this.#finish(step.result)
        const recorded = this.#takeRecorded(step.elicitation.params as JsonObject)
        if (recorded) call.answer(toElicitResult(recorded, step.elicitation.params))
        else if (this.#ask(call, step.elicitation.params as JsonObject)) return undefined
        else call.answer({ action: 'decline' })
      }
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async #finish(result: unknown): Promise<JsonObject | undefined> {
    if (!isRecord(result) || result.resultType !== 'input_required') return readResult(this.#tool, result)
    const { server, question, sample } = this.#environment
    const next = await requestRound(result, { server, question, sample, context: this.#context })
    return next.type === 'waiting' ? undefined : await this.#send(next.params)
  }

  /** Asks the user and keeps the call open. Returns false if the question cannot be asked. */
  #ask(call: ServerCall, params: JsonObject): boolean {
    const { openCalls } = this.#environment
    const question = this.#environment.question(params)
    const inputKey = `elicitation-${this.#context.answeredInputs().length + 1}`
    if (!question || !openCalls.keep(this.#context.idempotencyKey, { call, inputKey })) return false
    const sealed: SealedElicitation = { protocol: '2025', params: sealable(params as never) }
    this.#context.requestInput({ key: inputKey, ...question, sealed, mayDecline: true, expiresInMs: OPEN_CALL_MS })
    return true
  }

  /** An answer of an earlier attempt to the same question. */
  #takeRecorded(params: JsonObject): AnsweredInput | undefined {
    const asked = canonicalJson(sealable(params as never))
    const at = this.#recorded.findIndex((one) => canonicalJson(sealedParams(one)) === asked)
    return at < 0 ? undefined : this.#recorded.splice(at, 1)[0]
  }
}

function isSealedElicitation(sealed: unknown): sealed is SealedElicitation {
  return isRecord(sealed) && sealed.protocol === '2025' && isRecord(sealed.params)
}

function sealedParams({ sealed }: AnsweredInput): JsonObject {
  return isSealedElicitation(sealed) ? sealed.params : {}
}
