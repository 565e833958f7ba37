// The tool calls of a live session: recorded, dispatched beside the speech, cancelled one by one.

import type { Event } from '../../../core/event/event.ts'
import { showsRequests } from '../../../core/event/invocation-state.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import type { ActiveRun } from '../run/active-run.ts'
import type { RunData } from '../run/run-data.ts'
import { closeStoppedCall } from './close-call.ts'
import { LiveLog } from './live-log.ts'
import { LivePlan, type LivePlanOptions } from './live-plan.ts'
import { LiveRequests } from './live-requests.ts'
import type { RunNews } from './run-news.ts'
import { RunningCalls } from './running-calls.ts'

/** What the calls need from the session. */
export interface LiveCallsOptions extends LivePlanOptions {
  /** Called with requests to a human. */
  on(news: RunNews & { type: 'request' }): void
}

/** The tool calls of a live session. */
export class LiveCalls {
  readonly #run: ActiveRun
  readonly #requests: LiveRequests
  readonly #running: RunningCalls
  readonly #dispatches: Set<Promise<void>> = new Set()
  /** Calls that are being closed. An answer that arrives now does not run them. */
  readonly #ending: Set<string> = new Set()
  #lastEnding: Promise<void> = Promise.resolve()
  #state: 'open' | 'closed' = 'open'
  /** The run. */
  readonly data: RunData
  /** The tools and the instruction of the agent that speaks. */
  readonly plan: LivePlan
  /** Writes the log. */
  readonly log: LiveLog

  constructor(run: ActiveRun, options: LiveCallsOptions) {
    this.#run = run
    this.data = run.data
    this.#requests = new LiveRequests(run, { on: options.on, onExpired: () => this.#settle() })
    this.#running = new RunningCalls(run.data)
    this.plan = new LivePlan(run.data, options)
    this.log = new LiveLog(run, this.plan, this.#running)
  }

  /** Runs recorded calls through the gates and their bodies. Resolves when each has its response or waits. */
  dispatch(callIds: readonly string[]): Promise<void> {
    const { fold, stop } = this.data
    const calls = callIds.flatMap((id) => fold.calls.get(id) ?? [])
    const held = calls.map(({ id }) => this.#running.hold(id))
    const byAgent = Map.groupBy(calls, ({ agent }) => agent)
    const batches = Array.from(byAgent, ([agent, own]) => dispatch(this.#running.batch(this.plan.turn(agent), own)))
    const end = (): void => {
      for (const one of held) this.#running.release(one)
      this.#dispatches.delete(dispatching)
      this.#settle()
    }
    const dispatching = Promise.all(batches).then(end, (error) => {
      if (!stop.stopped) stop.stop(error) // a failed append: nothing more can be recorded
      end()
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
      this.data.stop.stop(error) // a failed append: nothing more can be recorded
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
    const { fold, recorder, stop } = this.data
    const turn = this.plan.turn()
    for (const id of callIds) {
      const call = fold.calls.get(id)
      if (!call || call.pending || !fold.isOpen(call) || stop.stopped) continue
      const result = await closeStoppedCall(this.data, { turn, call, recorder: undefined, reason })
      if (!fold.isOpen(call)) continue
      const functionResponse = { id, name: call.name, response: result.response }
      const content = { role: 'tool', parts: [{ functionResponse }] } as const
      await recorder.commit([{ event: recorder.draft(call.agent, this.plan.frame, content, {}) }])
    }
  }

  /** Continues calls whose requests are answered, and announces new requests. */
  #settle(): void {
    const { stop, fold } = this.data
    if (this.#state === 'closed' || stop.stopped) return
    // most calls are plain bodies: none waits, and none has a scope whose last call may just have got its result
    if (!fold.isWaiting && !fold.scopedCalls && this.#requests.open.size === 0) return
    this.#running.releaseWaiting()
    this.#requests.settle()
    const step = this.#run.next()
    if (step.type !== 'dispatch') return
    const ready = step.calls.filter(({ id }) => !this.#running.has(id) && !this.#ending.has(id))
    if (ready.length) void this.dispatch(ready.map(({ id }) => id))
  }

  /** Takes a stored event: a request is announced, and an answer of a human continues its call. */
  onRecorded(event: Event): void {
    const { author, content } = event
    const isAnswer = author === 'user' && content?.parts.some((part) => part.functionResponse)
    if (isAnswer || showsRequests(event)) queueMicrotask(() => this.#settle()) // once all entries of the append are folded
  }

  /** Announces requests that toolsets made before the first call. */
  announceRequests(): void {
    this.#requests.settle()
  }

  /** Stops all calls and answers those that wait for a human. */
  async close(reason: string): Promise<void> {
    this.#state = 'closed'
    this.#requests.close()
    this.#running.stopAll(reason)
    await Promise.all(this.#dispatches)
    const { fold } = this.data
    const open = fold.scopes.get(this.plan.frame.path)?.calls.filter((call) => fold.isOpen(call)) ?? []
    await this.#closeWaiting(
      open.map(({ id }) => id),
      reason,
    )
  }
}
