// The tool calls of a live model, from its message to the response that it gets: phase filter, onToolCall, dispatch, response.
import { hasHiddenMedia } from '../../agent/request/shown-response.ts'
import type { JsonObject } from '../../base/json.ts'
import { kindOf } from '../../base/kind-of.ts'
import { type FunctionCall, type FunctionResponse, isHandle } from '../../content/content.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { type BackgroundOptions, backgroundOf } from '../../policy/background.ts'
import type { LiveCalls } from '../../runner/live/live-calls.ts'
import type { ResponseMedia } from '../../runner/live/response-media.ts'
import type { State } from '../../tool/context.ts'
import type { LiveEvent } from '../../tool/live-event.ts'
import type { LiveClientMessage, LiveToolCall } from '../../tool/live-model.ts'
import type { Tool } from '../../tool/tool.ts'
import type { SpokenReply } from '../conversation/speech.ts'
import type { CallLimit } from './call-limit.ts'
import { isNonBlocking } from './declare-tools.ts'
import type { HeldMessage } from './held-results.ts'
import { joined, type ToldResult, tellResult } from './told-result.ts'
import { WireCall } from './wire-call.ts'

/** Answers some, none or all calls of a message. The others run. */
export type OnToolCall = (message: {
  readonly calls: readonly (FunctionCall & { readonly id: string })[]
  readonly state: State
}) => MaybePromise<readonly FunctionResponse[] | undefined>

type MaybePromise<T> = T | Promise<T>

/** What the calls need from the session. */
export interface WireCallsOptions {
  /** The calls in the log. */
  readonly calls: LiveCalls
  /** Does the model take `willContinue` and `scheduling`, and go on while a call of a tool that is declared so runs? */
  readonly nonBlocking: boolean
  /** Tools that run in the background although they are not marked, by name. */
  readonly background: ReadonlyMap<string, BackgroundOptions>
  /** Answers calls before they run. */
  readonly onToolCall: OnToolCall | undefined
  /** The state for hooks. */
  readonly state: State
  /** Settles when the writes of hooks are recorded. */
  saved(): Promise<void>
  /** Counts calls. */
  readonly limit: CallLimit
  /** Why the current phase does not allow a tool. Undefined if it does. */
  refusal(toolName: string): string | undefined
  /** Settles when the phase fits the state, so that the model gets new tools before the result that leads to them. */
  settled(): Promise<void> | undefined
  /** The place of the conversation now. */
  place(): number
  /** Sends a message to the model. */
  send(message: LiveClientMessage): void
  /** Sends results as a message once the model is idle. */
  sendWhenIdle(message: HeldMessage): void
  /** Shows an event to the consumer. */
  emit(event: LiveEvent): void
  /** Reports a mistake in a hook. */
  report(problem: string, error: unknown): void
}

/** Answered calls that are remembered, in case the model repeats one after a reconnect. */
const MAX_ANSWERED = 256

/** The calls of a live model and their responses on the wire. */
export class WireCalls {
  readonly #options: WireCallsOptions
  /** Calls of the current conversation, by the id of the provider. */
  readonly #byWireId: Map<string, WireCall> = new Map()
  /** Calls without their final response, by the id of the log. */
  readonly #open: Map<string, WireCall> = new Map()

  constructor(options: WireCallsOptions) {
    this.#options = options
  }

  /** How many calls have no final response. Zero after all calls: nothing leaks. */
  get openCount(): number {
    return this.#open.size
  }

  /** Has the call with this id of the log no final response? */
  isOpen(callId: string): boolean {
    return this.#open.has(callId)
  }

  /** Does the model wait for a call before it speaks again? Calls in the background do not count. */
  get isBlocking(): boolean {
    for (const call of this.#open.values()) if (!call.isInterim) return true
    return false
  }

  /** Registers calls of a message, so that they can be cancelled from now on. Repeated calls are left out. */
  register(calls: readonly LiveToolCall[]): WireCall[] {
    return calls.flatMap((call) => {
      const refusal = this.#options.limit.take() // repeated calls count, too: a model may repeat one without end
      const known = this.#byWireId.get(call.id)
      if (known?.isRepeatedBy(call)) {
        known.remember(this.#options.place())
        if (known.final) this.#options.send({ type: 'toolResponses', responses: [known.final] })
        return []
      }
      const registered = new WireCall(call, this.#options.place(), refusal)
      this.#byWireId.set(call.id, registered)
      return [registered]
    })
  }

  /** Records registered calls, with what the model said before them. Returns the event. */
  async record(registered: readonly WireCall[], { parts, reply }: SpokenReply): Promise<Event> {
    const { calls } = this.#options
    const { event, recorded, removed } = await calls.record(
      registered.map(({ call }) => call),
      parts,
      reply,
    )
    for (const [at, one] of registered.entries()) {
      const call = recorded[at]
      if (!call?.id) {
        this.#refuse(one) // too many calls in one reply
        continue
      }
      if (removed.has(one.call.id)) one.refusal ??= REMOVED
      const tool = calls.plan.turn().plan.table.tools.get(call.name)
      one.accept(call, this.#backgroundOf(tool), isNonBlocking(tool, this.#options))
      this.#open.set(call.id, one)
    }
    return event
  }

  #backgroundOf(tool: Tool | undefined): BackgroundOptions | undefined {
    return (tool && this.#options.background.get(tool.name)) ?? backgroundOf(tool)
  }

  #refuse({ call }: WireCall): void {
    this.#byWireId.delete(call.id) // it is not in the log, so that no response would ever remove it
    const response = { error: 'This call was not run: the reply has too many calls.', errorCode: 'CANCELLED' }
    this.#options.send({ type: 'toolResponses', responses: [{ id: call.id, name: call.name, response }] })
  }

  /** Runs recorded calls: phase filter, `onToolCall`, then the dispatcher. */
  async run(registered: readonly WireCall[]): Promise<void> {
    const { calls } = this.#options
    const accepted = registered.filter(({ logId }) => logId !== undefined)
    const refused = accepted.flatMap((one) => this.#refusalOf(one))
    if (refused.length) await calls.answer(refused)
    const left = accepted.filter((one) => !one.isCancelled && !refused.some(({ id }) => id === one.logId))
    const answered = left.length ? await this.#askHook(left) : []
    if (answered.length) await calls.answer(answered)
    const rest = accepted.filter(({ logId }) => ![...refused, ...answered].some(({ id }) => id === logId))
    const cancelled = rest.filter(({ isCancelled }) => isCancelled)
    if (cancelled.length) await calls.answer(cancelled.map(cancelledResponse))
    const running = rest.filter((one) => !cancelled.includes(one))
    for (const one of running.filter(({ background }) => background)) {
      this.#acknowledge(one)
      void calls.dispatch([one.logId as string]) // alone: no other call waits for it
    }
    const foreground = running.filter(({ background }) => !background).map(({ logId }) => logId as string)
    if (foreground.length) void calls.dispatch(foreground)
  }

  #refusalOf({ isCancelled, logId, call, refusal }: WireCall): FunctionResponse[] {
    const answer = (response: JsonObject): FunctionResponse[] => [{ id: logId as string, name: call.name, response }]
    if (isCancelled) return []
    if (refusal) return answer(refusal)
    const error = this.#options.refusal(call.name)
    return error === undefined ? [] : answer({ error })
  }

  /**
   * The responses of `onToolCall` that belong to a call. A hook that throws, or returns something else, may be a guard: none of its
   * calls runs.
   */
  async #askHook(left: readonly WireCall[]): Promise<FunctionResponse[]> {
    const { onToolCall, state, saved, report } = this.#options
    if (!onToolCall) return []
    const calls = left.map((one) => ({ ...one.logged, id: one.logId as string })) // they are recorded
    let given: readonly FunctionResponse[] = []
    try {
      given = (await onToolCall({ calls: structuredClone(calls), state })) ?? []
      if (!Array.isArray(given)) {
        throw new TypeError(`it returned ${kindOf(given)}. Return a list of { name, response }, or undefined`)
      }
    } catch (error) {
      report('onToolCall failed, so its calls were not run', error)
      const response = { error: `Tool execution failed: ${messageOf(error)}`, errorCode: 'EXECUTION_FAILED' }
      given = calls.map(({ id, name }) => ({ id, name, response }))
    }
    await saved()
    const matched = matchResponses(calls, given)
    if (matched.length < given.length) report('onToolCall answered calls that the model did not make', undefined)
    return matched
  }

  #acknowledge(one: WireCall): void {
    const response = one.acknowledge()
    if (response) this.#options.send({ type: 'toolResponses', responses: [response] })
  }

  /** Tells the model that a call waits for a human, so that it can go on. */
  acknowledgeWaiting(callId: string, hint: string | undefined): void {
    const one = this.#open.get(callId)
    const response = one?.waitForHuman(hint)
    if (response) this.#options.send({ type: 'toolResponses', responses: [response] })
  }

  /** Cancels calls that the model no longer needs, also before they are recorded. They get no response. Returns the calls. */
  cancelByModel(wireIds: readonly string[]): WireCall[] {
    const found = wireIds.flatMap((id) => this.#byWireId.get(id) ?? []).filter((one) => !one.final && !one.isCancelled)
    for (const one of found) one.isCancelled = true
    const ids = found.flatMap(({ logId }) => logId ?? [])
    if (ids.length) this.#options.calls.cancel(ids, CANCELLED_BY_MODEL).catch(() => {}) // the run has stopped
    return found
  }

  /** The app cancels calls: the model gets the words of the formatter for it. */
  cancelHere(callIds: readonly string[]): void {
    if (!Array.isArray(callIds))
      throw new ToolwrightError('INVALID_REQUEST', `cancelCalls() takes a list of call ids, got ${kindOf(callIds)}.`)
    for (const id of callIds) {
      const one = this.#open.get(id)
      if (one) one.isCancelledHere = true
    }
  }

  /** Sends the recorded responses of an event to the model. */
  async deliver(responses: readonly FunctionResponse[], event: Event): Promise<void> {
    const { calls, emit, send, settled } = this.#options
    emit({ type: 'toolResponse', responses, event })
    const found = responses.flatMap((response) => {
      const one = this.#open.get(response.id ?? '')
      if (one && !isHandle(response)) this.#close(one)
      return one ? [{ one, response }] : []
    })
    const settling = settled()
    if (settling) await settling
    const loading = calls.mediaIn(event)
    const media = loading && (await loading)
    const wire: FunctionResponse[] = []
    const told: ToldResult[] = []
    for (const { one, response } of found) {
      if (one.isCancelled) continue
      if (one.needsContent()) told.push(tellResult(one, response))
      else wire.push(withParts(one.respond(response), response, media))
    }
    if (wire.length) send({ type: 'toolResponses', responses: wire })
    this.#tell(told)
  }

  /** Results as messages. Only a result that the model waits for, or that is to interrupt the model, is sent while it speaks. */
  #tell(told: readonly ToldResult[]): void {
    const { send, sendWhenIdle } = this.#options
    const now = told.filter(({ isUrgent }) => isUrgent)
    const later = told.filter(({ isUrgent }) => !isUrgent)
    const interrupts = now.some((one) => one.interrupts)
    if (now.length) send({ type: 'content', ...joined(now), ...(interrupts && { interrupts }) })
    if (later.length) sendWhenIdle(joined(later))
  }

  #close(one: WireCall): void {
    this.#open.delete(one.logId as string)
    if (this.#byWireId.size <= MAX_ANSWERED) return
    for (const [wireId, other] of this.#byWireId) {
      if (other.logId !== undefined && !this.#open.has(other.logId)) return void this.#byWireId.delete(wireId)
    }
  }

  /** Sends progress of a background call to the model. */
  update(callId: string, value: unknown): void {
    const response = this.#open.get(callId)?.update(value)
    if (response) this.#options.send({ type: 'toolResponses', responses: [response] })
  }

  /** The connection has changed. The model knows calls up to `place`; undefined: it knows none, and its ids start anew. */
  forget(place: number | undefined): void {
    for (const one of this.#byWireId.values()) if (place === undefined || one.place > place) one.isForgotten = true
    if (place === undefined) this.#byWireId.clear()
  }
}

/** The response with the media of the result, unless the media is for the app only. */
function withParts(
  shown: FunctionResponse,
  response: FunctionResponse,
  media: ResponseMedia | undefined,
): FunctionResponse {
  const parts = hasHiddenMedia(response) ? undefined : media?.get(response.id ?? '')
  return parts?.length ? { ...shown, parts } : shown
}

function cancelledResponse({ logId, call }: WireCall): FunctionResponse {
  const response = { error: `Tool cancelled. ${CANCELLED_BY_MODEL}`, errorCode: 'CANCELLED' }
  return { id: logId as string, name: call.name, response }
}

const REMOVED = { error: 'This call was not run: an afterModel callback removed it.', errorCode: 'CANCELLED' }

const CANCELLED_BY_MODEL = 'The model no longer needs the result.'

/** One response for each answered call. A response without an id belongs to the first call of its name. */
function matchResponses(calls: readonly FunctionCall[], given: readonly FunctionResponse[]): FunctionResponse[] {
  const open = [...calls]
  return given.flatMap((response) => {
    const at = open.findIndex(({ id, name }) =>
      response?.id === undefined ? name === response?.name : id === response.id,
    )
    const [call] = at < 0 ? [] : open.splice(at, 1)
    if (!call) return []
    return [{ id: call.id as string, name: call.name, response: toResponse(response.response) }]
  })
}

function toResponse(value: unknown): FunctionResponse['response'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as FunctionResponse['response'])
    : { result: value ?? null }
}
