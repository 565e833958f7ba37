// The tool calls of a live model, from its message to the response that it gets: phase filter, onToolCall, dispatch, response.

import type { JsonObject } from '../../../core/base/json.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import { type Content, type FunctionResponse, isHandle } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import { hasHiddenMedia } from '../../../engine/agent/request/shown-response.ts'
import type { LiveClientMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import type { ResponseMedia } from '../../../engine/runner/live/response-media.ts'
import { type HeldResults, heldMessage } from '../conversation/held.ts'
import { resultText } from '../conversation/seed.ts'
import type { SpokenReply } from '../conversation/speech.ts'
import { CallLimit } from './call-limit.ts'
import { isNonBlocking, ModelCall } from './model-call.ts'
import { askHook } from './on-tool-call.ts'
import type { SessionParts } from './session-parts.ts'
import { joined, type ToldResult, tellResult } from './told-result.ts'

/** Recorded responses, as the model gets them. */
export interface Delivery {
  /** What is sent now. */
  readonly messages: readonly LiveClientMessage[]
  /** Results that the model must not hear before it is idle. */
  readonly whenIdle: HeldResults | undefined
}

/** Answered calls that are remembered, in case the model repeats one after a reconnect. */
const MAX_ANSWERED = 256

/** The calls of a live model, and the responses that it gets. */
export class ModelCalls {
  readonly #parts: SessionParts
  /** Calls of the current conversation, by the id of the provider. */
  readonly #byProviderId: Map<string, ModelCall> = new Map()
  /** Calls without their final response, by the id of the log. */
  readonly #open: Map<string, ModelCall> = new Map()

  /** Counts the calls. */
  readonly limit: CallLimit

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.limit = new CallLimit({ ...parts.options, now: () => parts.ports.monotonicNow() })
  }

  /** How many calls have no final response. Zero after all calls: nothing leaks. */
  get openCount(): number {
    return this.#open.size
  }

  /** The call with this id of the log. Undefined once it has its final response. */
  open(callId: string): ModelCall | undefined {
    return this.#open.get(callId)
  }

  /** Does the model wait for a call before it speaks again? Calls in the background do not count. */
  get isBlocking(): boolean {
    for (const call of this.#open.values()) if (call.isUntold) return true
    return false
  }

  /**
   * Registers calls of a message at a place of the conversation, so that they can be cancelled from now on. `repeated`: the responses
   * to calls that the model makes again.
   */
  register(
    calls: readonly LiveToolCall[],
    place: number,
  ): { readonly registered: readonly ModelCall[]; readonly repeated: readonly FunctionResponse[] } {
    const registered: ModelCall[] = []
    const repeated: FunctionResponse[] = []
    for (const call of calls) {
      const refusal = this.limit.take() // repeated calls count, too: a model may repeat one without end
      const known = this.#byProviderId.get(call.id)
      if (known?.isRepeatedBy(call)) {
        known.remember(place)
        if (known.result) repeated.push(known.result)
        continue
      }
      const one = new ModelCall(call, place, refusal)
      this.#byProviderId.set(call.id, one)
      registered.push(one)
    }
    return { registered, repeated }
  }

  /** Records registered calls, with what the model said before them. `refused`: responses to calls that the log does not take. */
  async record(
    registered: readonly ModelCall[],
    { parts, reply }: SpokenReply,
  ): Promise<{ readonly event: Event; readonly refused: readonly FunctionResponse[] }> {
    const { live, options, background: named } = this.#parts
    const { log, plan } = live
    const nonBlocking = options.model.capabilities?.nonBlocking === true
    const made = registered.map(({ call }) => call)
    const { event, calls: recorded, removed } = await log.recordReply({ parts, reply, calls: made })
    const { table } = plan.turn().plan
    const refused: FunctionResponse[] = []
    for (const [at, one] of registered.entries()) {
      const logged = recorded[at]
      if (!logged?.id) {
        this.#byProviderId.delete(one.call.id) // it is not in the log, so that no response would ever remove it
        refused.push({ id: one.call.id, name: one.call.name, response: TOO_MANY })
        continue
      }
      if (removed.has(one.call.id)) one.refuse(REMOVED)
      const entry = table.entries.get(logged.name)
      const background = entry && (named.get(logged.name) ?? entry.background)
      const responses = isNonBlocking(entry?.tool, background, nonBlocking) ? 'several' : 'one'
      one.accept({ logged, background, responses })
      this.#open.set(logged.id, one)
    }
    return { event, refused }
  }

  /**
   * Runs recorded calls, unless the phase or `onToolCall` answers them. `respond` gets the first response to each call that runs in
   * the background.
   */
  async run(
    registered: readonly ModelCall[],
    respond: (acknowledgement: FunctionResponse | undefined) => void,
  ): Promise<void> {
    const { live, options, flow, recorder } = this.#parts
    const { onToolCall } = options
    let left = registered.filter(({ logId }) => logId !== undefined)
    const answer = async (responses: readonly FunctionResponse[]): Promise<void> => {
      await live.log.answer(responses)
      left = left.filter(({ logId }) => !responses.some(({ id }) => id === logId))
    }
    const refused = left.flatMap((one) => this.#refusalOf(one))
    if (refused.length > 0) await answer(refused)
    const asked = onToolCall ? left.filter(({ isCancelled }) => !isCancelled) : []
    if (onToolCall && asked.length > 0) {
      const made = asked.map((one) => ({ ...one.logged, id: one.logId as string })) // they are recorded
      const { answered, problems } = await askHook(onToolCall, made, flow.state)
      if (answered.length > 0) await answer(answered)
      for (const { problem, error } of problems) recorder.report(problem, error)
    }
    const cancelled = left.filter(({ isCancelled }) => isCancelled)
    if (cancelled.length > 0) await answer(cancelled.map(cancelledResponse))
    for (const one of left) {
      if (!one.background) continue
      respond(one.acknowledge())
      void live.dispatch([one.logId as string]) // alone: no other call waits for it
    }
    const foreground = left.flatMap((one) => (one.background ? [] : [one.logId as string]))
    if (foreground.length > 0) void live.dispatch(foreground)
  }

  #refusalOf({ isCancelled, logId, call, refusal }: ModelCall): FunctionResponse[] {
    const answer = (response: JsonObject): FunctionResponse[] => [{ id: logId as string, name: call.name, response }]
    if (isCancelled) return []
    if (refusal) return answer(refusal)
    const error = this.#parts.flow.refusal(call.name)
    return error === undefined ? [] : answer({ error })
  }

  /** Cancels calls that the model no longer needs, also before they are recorded. They get no response. Returns the calls. */
  cancelByModel(providerIds: readonly string[]): ModelCall[] {
    const found = providerIds
      .flatMap((id) => this.#byProviderId.get(id) ?? [])
      .filter((one) => !one.result && !one.isCancelled)
    for (const one of found) one.cancel('model')
    const ids = found.flatMap(({ logId }) => logId ?? [])
    if (ids.length) this.#parts.live.cancel(ids, CANCELLED_BY_MODEL).catch(() => {}) // the run has stopped
    return found
  }

  /** The app cancels calls: the model gets the words of the formatter for it. */
  cancelByApp(callIds: readonly string[]): void {
    if (!Array.isArray(callIds))
      throw new ToolwrightError('INVALID_REQUEST', `cancelCalls() takes a list of call ids, got ${kindOf(callIds)}.`)
    for (const id of callIds) this.#open.get(id)?.cancel('app')
  }

  /** Closes the calls with their final response, and returns all calls with a response. */
  close(responses: readonly FunctionResponse[]): readonly Answered[] {
    return responses.flatMap((response) => {
      const one = this.#open.get(response.id ?? '')
      if (one && !isHandle(response)) this.#close(one)
      return one ? [{ one, response }] : []
    })
  }

  #close(one: ModelCall): void {
    this.#open.delete(one.logId as string)
    if (this.#byProviderId.size <= MAX_ANSWERED) return
    for (const [providerId, other] of this.#byProviderId) {
      if (other.logId !== undefined && !this.#open.has(other.logId)) return void this.#byProviderId.delete(providerId)
    }
  }

  /** What the model gets of recorded responses, with the media that was recorded with them. */
  deliver(answered: readonly Answered[], media: ResponseMedia | undefined): Delivery {
    const responses: FunctionResponse[] = []
    const told: ToldResult[] = []
    for (const { one, response } of answered) {
      if (one.isCancelled) continue
      if (one.needsMessage) told.push(tellResult(one, response))
      else responses.push(withParts(one.respond(response), response, media))
    }
    // only a result that the model waits for, or that is to interrupt the model, is sent while it speaks
    const now = told.filter(({ when }) => when !== 'idle')
    const later = told.filter(({ when }) => when === 'idle')
    const interrupts = now.some(({ when }) => when === 'interrupt')
    const messages: LiveClientMessage[] = responses.length ? [{ type: 'toolResponses', responses }] : []
    if (now.length) messages.push({ ...heldMessage([joined(now)]), ...(interrupts && { interrupts }) })
    return { messages, whenIdle: later.length ? joined(later) : undefined }
  }

  /** Results of calls that an earlier session made, as a message. */
  tellEarlier(results: readonly FunctionResponse[]): HeldResults {
    const contents = results.map(({ name, response }): Content => {
      return { role: 'user', parts: [{ text: resultText(name, response) }] }
    })
    return { contents, wants: 'reply' }
  }

  /** The connection has changed. The model knows calls up to `place`; undefined: it knows none, and its ids start anew. */
  forget(place: number | undefined): void {
    for (const one of this.#byProviderId.values()) one.forgetAfter(place)
    if (place === undefined) this.#byProviderId.clear()
  }
}

/** A call and its recorded response. */
export interface Answered {
  /** The call. */
  readonly one: ModelCall
  /** The response. */
  readonly response: FunctionResponse
}

const TOO_MANY = { error: 'This call was not run: the reply has too many calls.', errorCode: 'CANCELLED' }

/** The response with the media of the result, unless the media is for the app only. */
function withParts(
  shown: FunctionResponse,
  response: FunctionResponse,
  media: ResponseMedia | undefined,
): FunctionResponse {
  const parts = media?.get(response.id ?? '')
  return parts?.length && !hasHiddenMedia(response) ? { ...shown, parts } : shown
}

function cancelledResponse({ logId, call }: ModelCall): FunctionResponse {
  const response = { error: `Tool cancelled. ${CANCELLED_BY_MODEL}`, errorCode: 'CANCELLED' }
  return { id: logId as string, name: call.name, response }
}

const REMOVED = { error: 'This call was not run: an afterModel callback removed it.', errorCode: 'CANCELLED' }

const CANCELLED_BY_MODEL = 'The model no longer needs the result.'
