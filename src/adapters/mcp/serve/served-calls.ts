// Serves `tools/list` and `tools/call` for any number of clients. Each call runs in a session of its own, through the
// dispatcher. A call that waits for an answer is continued in the same session.
import type { Ports } from '../../../core/base/ports.ts'
import type { Part } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { CREDENTIAL_ID_PREFIX } from '../../../core/event/request-names.ts'
import type { CallOutcome } from '../../../engine/runner/single-call/call-outcome.ts'
import type { CallOptions, CallRunner, StartedCall } from '../../../engine/runner/single-call/call-runner.ts'
import { answerFrom, elicitationFor } from './elicitation.ts'
import { type ListedTool, listedTool } from './listed-tool.ts'
import { outputSchemaOf } from './output-schema.ts'
import type { PendingSessions } from './pending-sessions.ts'
import { pendingText } from './pending-text.ts'
import { requestKeys } from './request-keys.ts'
import type { RequestStates, StateBinding } from './request-state.ts'
import { type InputRequired, InvalidState, type ServedCall, UnknownTool } from './served-call.ts'
import { errorContent, type ToolContent, toolContent } from './tool-content.ts'
import { waitForConsent } from './wait-for-consent.ts'

/** What all calls of a server share. */
interface ServedCallsOptions {
  /** Runs the calls. */
  readonly calls: CallRunner
  /** Seals the state of pending calls. */
  readonly states: RequestStates
  /** Limits and deletes the sessions of this process. Undefined: the sessions are kept. */
  readonly sessions: PendingSessions | undefined
  /** Clock and timers. */
  readonly ports: Pick<Ports, 'now' | 'setTimer'>
  /** How long a client may take to answer, in milliseconds. */
  readonly stateTtlMs: number
  /** How long a call waits for a sign-in that the user has started, in milliseconds. */
  readonly consentWaitMs: number
}

/** Serves the tools of a server. */
export class ServedCalls {
  readonly #options: ServedCallsOptions
  readonly #cancelling: Set<Promise<void>> = new Set()

  constructor(options: ServedCallsOptions) {
    this.#options = options
  }

  /** The tools that a user can call, in a fixed order. */
  async list(options: CallOptions): Promise<ListedTool[]> {
    const tools = await this.#options.calls.list(options)
    return [...tools.values()].flatMap((tool) => listedTool(tool) ?? [])
  }

  /** Waits for the cancellations of clients that have gone. */
  async close(): Promise<void> {
    await Promise.all(this.#cancelling)
  }

  /** Runs one round of a call. */
  async call(call: ServedCall): Promise<ToolContent | InputRequired> {
    const { calls } = this.#options
    const tool = (await calls.list(call)).get(call.name)
    if (!tool?.declaration()) throw new UnknownTool(`Unknown tool "${call.name.slice(0, 128)}".`)
    const outcome = call.state === undefined ? await this.#start(call) : await this.#continue(call, call.state)
    if (outcome.type === 'pending' && !outcome.handle) return await this.#ask(call, outcome.requests, outcome.sessionId)
    await this.#options.sessions?.end({ userId: call.userId, sessionId: outcome.sessionId }, outcome.type)
    if (outcome.type === 'ended') return errorContent(outcome.error?.message ?? `Tool "${call.name}" was cancelled.`)
    const result = outcome.type === 'pending' ? outcome.handle : outcome.result
    return result ? await toolContent(result, outputSchemaOf(tool)) : errorContent('')
  }

  /**
   * Starts a call. Answers that the client sent along count for requests of input with the same key. They never approve: an
   * approval answers a question that was asked.
   */
  async #start(call: ServedCall): Promise<CallOutcome> {
    const { calls } = this.#options
    const outcome = await calls.run({ name: call.name, args: call.args }, call)
    if (outcome.type !== 'pending') return outcome
    const keys = requestKeys(outcome.requests)
    const answers = [...keys].flatMap(([key, request]) => {
      const isInput = request.kind === 'input' && Object.hasOwn(call.answers, key)
      return (isInput && answerFrom(request, call.answers[key])) || []
    })
    return answers.length ? await this.#answer(answers, { ...call, sessionId: outcome.sessionId }) : outcome
  }

  /** Continues a call with the answers of the client. */
  async #continue(call: ServedCall, sealed: string): Promise<CallOutcome> {
    const { calls, states, ports, consentWaitMs } = this.#options
    const state = await states.open(sealed, this.#binding(call))
    if (!state) throw new InvalidState()
    const { sessionId } = state
    const started: StartedCall = { ...call, sessionId }
    const requests = await calls.runner.pending({ userId: call.userId, sessionId })
    const pending = new Map(requests.map((request) => [request.id, request]))
    const answers: Part[] = []
    let awaitsConsent = false
    for (const [key, id] of Object.entries(state.requests)) {
      const request = pending.get(id)
      const isConsent = id.startsWith(CREDENTIAL_ID_PREFIX)
      if (!request && !isConsent) throw new InvalidState() // it is answered: a state is used once
      const answer = Object.hasOwn(call.answers, key) ? call.answers[key] : undefined
      const part = request && answerFrom(request, answer)
      if (part) answers.push(part)
      else if (isConsent) awaitsConsent = true
    }
    if (answers.length) return await this.#answer(answers, started)
    if (!awaitsConsent) return await calls.read(started)
    return await waitForConsent(calls, started, { ports, waitMs: consentWaitMs })
  }

  /** Answers requests. An answer of the wrong shape leaves its request open, and the client is asked again. */
  async #answer(answers: readonly Part[], started: StartedCall): Promise<CallOutcome> {
    const { calls } = this.#options
    try {
      return await calls.answer(answers, started)
    } catch (error) {
      if (!(error instanceof ToolwrightError)) throw error
      if (error.code === 'INVALID_REQUEST') return await calls.read(started)
      if (USED.has(error.code)) throw new InvalidState()
      throw error
    }
  }

  /** Asks the client's user, or tells the client how to answer elsewhere. */
  async #ask(
    call: ServedCall,
    requests: readonly PendingRequest[],
    sessionId: string,
  ): Promise<ToolContent | InputRequired> {
    const { states, ports, sessions, stateTtlMs } = this.#options
    await sessions?.keep({ userId: call.userId, sessionId })
    const keys = [...requestKeys(requests)]
    const asked = keys.map(([key, request]) => [key, elicitationFor(request, call.modes)] as const)
    if (asked.some(([, elicitation]) => !elicitation)) return errorContent(pendingText(requests))
    if (call.isConnected) this.#cancelWithRequest(call, sessionId)
    const ends = requests.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt * 1000)
    const expiresAt = Math.min(ports.now() + stateTtlMs, ...ends)
    const ids = Object.fromEntries(keys.map(([key, { id }]) => [key, id]))
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(asked) as InputRequired['inputRequests'], // none of them is undefined
      requestState: await states.seal({ sessionId, requests: ids, expiresAt }, this.#binding(call)),
    }
  }

  /** Cancels a pending call when the client cancels its request or disconnects. */
  #cancelWithRequest({ signal, userId, runContext }: ServedCall, sessionId: string): void {
    const { calls, sessions } = this.#options
    const cancel = async (): Promise<void> => {
      await calls.cancel({ userId, sessionId, runContext })
      await sessions?.end({ userId, sessionId }, 'ended')
    }
    const onAbort = (): void => {
      const cancelled = cancel().catch(() => {}) // a call that has ended has nothing to cancel
      this.#cancelling.add(cancelled)
      void cancelled.then(() => this.#cancelling.delete(cancelled))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  }

  #binding({ userId, name, args }: ServedCall): StateBinding {
    return { appName: this.#options.calls.runner.appName, userId, tool: name, args }
  }
}

/** Errors of answers that come too late. */
const USED: ReadonlySet<string> = new Set(['ALREADY_ANSWERED', 'EXPIRED', 'NOT_FOUND'])
