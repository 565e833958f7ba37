// The tool calls of a live session: recorded, dispatched beside the speech, cancelled one by one.
import { acceptCalls, CallIds } from '../../agent/loop/accept-calls.ts'
import type { FunctionCall, FunctionResponse, Part } from '../../content/content.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import { longRunningIds } from '../../dispatch/resolve.ts'
import type { Event } from '../../event/event.ts'
import { showsRequests } from '../../event/invocation-state.ts'
import { progressIn } from '../../event/progress.ts'
import type { ActiveRun } from '../run/active-run.ts'
import type { RunData } from '../run/run-data.ts'
import { closeStoppedCall } from './close-call.ts'
import { frameOf } from './live-agent.ts'
import { LiveCallbacks } from './live-callbacks.ts'
import { LivePlan, type LivePlanOptions } from './live-plan.ts'
import { describeReply, type LiveReply } from './live-reply.ts'
import { LiveRequests } from './live-requests.ts'
import { mediaIn, type ResponseMedia } from './response-media.ts'
import type { RunNews } from './run-news.ts'
import { RunningCalls } from './running-calls.ts'

/** What the calls need from the session. */
export interface LiveCallsOptions extends LivePlanOptions {
  /** Called with progress of calls and requests to a human. */
  on(news: RunNews): void
}

/** The tool calls of a live session. */
export class LiveCalls {
  readonly #run: ActiveRun
  readonly #options: LiveCallsOptions
  readonly #requests: LiveRequests
  readonly #running: RunningCalls
  readonly #dispatches: Set<Promise<void>> = new Set()
  /** Calls that are being closed. An answer that arrives now does not run them. */
  readonly #ending: Set<string> = new Set()
  #lastEnding: Promise<void> = Promise.resolve()
  #isClosed = false
  /** The callbacks around the model. */
  readonly callbacks: LiveCallbacks
  /** The tools and the instruction of the agent that speaks. */
  readonly plan: LivePlan

  constructor(run: ActiveRun, options: LiveCallsOptions) {
    this.#run = run
    this.#options = options
    this.#requests = new LiveRequests(run, { on: options.on, onExpired: () => this.#settle() })
    this.#running = new RunningCalls(run.data)
    this.callbacks = new LiveCallbacks(run.data)
    this.plan = new LivePlan(run.data, options, this.callbacks)
  }

  get #data(): RunData {
    return this.#run.data
  }

  /**
   * Records calls of the model, with what it said before them. Returns the event, and the calls as recorded: an id that is
   * missing, taken or invalid is replaced. `removed`: ids at the provider of calls that a callback removed. Each call is held back until `answer` or `dispatch` names it.
   */
  async record(
    calls: readonly FunctionCall[],
    said: readonly Part[],
    reply: LiveReply,
  ): Promise<{ event: Event; recorded: FunctionCall[]; removed: ReadonlySet<string> }> {
    const run = this.#data
    const turn = this.plan.turn()
    const checked = await this.callbacks.afterModel(turn, { said, calls, reply })
    const ids = new CallIds(run)
    try {
      const parts = [...checked.said, ...checked.calls.map((functionCall) => ({ functionCall }))]
      const content = acceptCalls(ids, { role: 'model', parts })
      const event = run.recorder.draft(turn.plan.agent.name, turn.frame, content, checked.actions)
      describeReply(event, reply)
      const longRunning = longRunningIds(turn.plan.table, content.parts)
      if (longRunning) event.longRunningToolIds = longRunning
      const filled = content.parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
      this.#running.hold(filled.map(({ id = '' }) => id))
      await run.recorder.commit([{ event }])
      return { event, recorded: filled, removed: checked.removed }
    } finally {
      ids.close()
    }
  }

  /** Records responses to calls that no tool runs: refused by a phase, or answered by `onToolCall`. Answered calls keep theirs. */
  async answer(responses: readonly FunctionResponse[]): Promise<void> {
    const { recorder, fold } = this.#data
    const open = responses.filter(({ id = '' }) => {
      const call = fold.calls.get(id)
      return call !== undefined && fold.isOpen(call)
    })
    if (open.length === 0) return
    const content = { role: 'tool', parts: open.map((functionResponse) => ({ functionResponse })) } as const
    const { plan, frame } = this.plan.turn()
    await recorder.commit([{ event: recorder.draft(plan.agent.name, frame, content, {}) }])
    for (const { id = '' } of open) this.#running.delete(id)
  }

  /** Runs recorded calls through the gates and their bodies. Resolves when each has its response or waits. */
  dispatch(callIds: readonly string[]): Promise<void> {
    const { fold, stop } = this.#data
    const calls = callIds.flatMap((id) => fold.calls.get(id) ?? [])
    const release = this.#running.hold(calls.map(({ id }) => id))
    const byAgent = Map.groupBy(calls, ({ agent }) => agent)
    const batches = Array.from(byAgent, ([agent, own]) => dispatch(this.#running.batch(this.plan.turn(agent), own)))
    const dispatching = Promise.all(batches)
      .then(() => {})
      .catch((error) => {
        if (!stop.stopped) this.#data.stop.stop(error) // a failed append: nothing more can be recorded
      })
      .finally(() => {
        release()
        this.#dispatches.delete(dispatching)
        this.#settle()
      })
    this.#dispatches.add(dispatching)
    return dispatching
  }

  /** Cancels calls: those that run are stopped, those that wait for a human are answered. Unknown ids are ignored. */
  async cancel(callIds: readonly string[], reason: string): Promise<void> {
    const stopped = new Set(this.#running.stop(callIds, reason))
    const waiting = callIds.filter((id) => !stopped.has(id))
    try {
      await this.#closeWaiting(waiting, reason)
    } catch (error) {
      this.#data.stop.stop(error) // a failed append: nothing more can be recorded
      throw error
    }
  }

  /** Answers calls that wait for a human. Calls that wait for the result of long-running work go on. */
  async #closeWaiting(callIds: readonly string[], reason: string): Promise<void> {
    if (callIds.length === 0) return
    for (const id of callIds) this.#ending.add(id)
    const ending = this.#lastEnding.then(() => this.#recordEnds(callIds, reason))
    this.#lastEnding = ending.catch(() => {})
    try {
      await ending
    } finally {
      for (const id of callIds) this.#ending.delete(id)
    }
    this.#requests.settle()
  }

  async #recordEnds(callIds: readonly string[], reason: string): Promise<void> {
    const { fold, recorder, stop } = this.#data
    const turn = this.plan.turn()
    for (const id of callIds) {
      const call = fold.calls.get(id)
      if (!call || call.pending || !fold.isOpen(call) || stop.stopped) continue
      const result = await closeStoppedCall(this.#data, { turn, call, recorder: undefined, reason })
      if (!fold.isOpen(call)) continue
      const functionResponse = { id, name: call.name, response: result.response }
      const content = { role: 'tool', parts: [{ functionResponse }] } as const
      await recorder.commit([{ event: recorder.draft(call.agent, frameOf(this.#data), content, {}) }])
    }
  }

  /** Continues calls whose requests are answered, and announces new requests. */
  #settle(): void {
    if (this.#isClosed || this.#data.stop.stopped) return
    this.#running.releaseWaiting()
    this.#requests.settle()
    const step = this.#run.next()
    if (step.type !== 'dispatch') return
    const ready = step.calls.filter(({ id }) => !this.#running.has(id) && !this.#ending.has(id))
    if (ready.length) void this.dispatch(ready.map(({ id }) => id))
  }

  /** Called with every stored event: a request is announced, and an answer of a human continues its call. */
  onRecorded(event: Event): void {
    const { author, content } = event
    const isAnswer = author === 'user' && content?.parts.some((part) => part.functionResponse)
    if (isAnswer || showsRequests(event)) queueMicrotask(() => this.#settle()) // once all entries of the append are folded
  }

  /** The media of the results in an event; undefined if there is none. */
  mediaIn(event: Event): Promise<ResponseMedia> | undefined {
    return mediaIn(this.#data, event)
  }

  /** Called with every event of the run: passes on the progress of calls. */
  onPartial(event: Event): void {
    const progress = event.isolationScope === undefined ? progressIn(event) : undefined
    if (!progress) return
    const { callId: id, name, value } = progress
    this.#options.on({ type: 'progress', id, name, value })
  }

  /** Announces requests that toolsets made before the first call. */
  announceRequests(): void {
    this.#requests.settle()
  }

  /** Stops all calls and answers those that wait for a human. */
  async close(reason: string): Promise<void> {
    this.#isClosed = true
    this.#requests.close()
    this.#running.stopAll(reason)
    await Promise.all(this.#dispatches)
    const { fold } = this.#data
    const open = fold.scopes.get(frameOf(this.#data).path)?.calls.filter((call) => fold.isOpen(call)) ?? []
    await this.#closeWaiting(
      open.map(({ id }) => id),
      reason,
    )
  }
}
