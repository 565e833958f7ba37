// The tool calls of a live session: recorded, dispatched beside the speech, cancelled one by one.
import { CallBatch } from '../../agent/loop/call-batch.ts'
import { CallIds } from '../../agent/loop/call-ids.ts'
import type { AgentTurn, RunHost } from '../../agent/loop/run-host.ts'
import { runScope } from '../../agent/loop/run-scope.ts'
import { ScopeRecorder } from '../../agent/loop/scope-recorder.ts'
import { withMedia } from '../../agent/request/request-media.ts'
import { type Content, type FunctionCall, type FunctionResponse, hasMedia, type Part } from '../../content/content.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import { type Batch, SUSPENDED } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import { longRunningIds } from '../../dispatch/resolve.ts'
import { StopSignal } from '../../dispatch/stop-signal.ts'
import { messageOf } from '../../error/error.ts'
import type { Event } from '../../event/event.ts'
import { openRequests } from '../../event/fold.ts'
import type { CallState } from '../../event/invocation-state.ts'
import { REQUEST_PREFIX } from '../../event/request-names.ts'
import type { ActiveRun } from '../run/active-run.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { RunData } from '../run/run-data.ts'
import { closeStoppedCall } from './close-call.ts'
import { frameOf } from './live-agent.ts'
import { LivePlan, type LivePlanOptions } from './live-plan.ts'
import { describeReply, type LiveReply } from './live-reply.ts'
import { LiveRequests, type RequestListener } from './live-requests.ts'

/** What the calls need from the session. */
export interface LiveCallsOptions extends LivePlanOptions, RequestListener {
  /** Called with progress of a running call. */
  onProgress(callId: string, name: string, value: unknown): void
}

/** A call that is being dispatched. */
interface RunningCall {
  readonly stop: StopSignal
  recorder: ScopeRecorder | undefined
}

/** The tool calls of a live session. */
export class LiveCalls {
  readonly #run: ActiveRun
  readonly #options: LiveCallsOptions
  readonly #requests: LiveRequests
  /** Calls that are recorded and not answered by this side yet: held back, prepared or running. */
  readonly #running: Map<string, RunningCall> = new Map()
  readonly #dispatches: Set<Promise<void>> = new Set()
  #isClosed = false
  /** The tools and the instruction of the agent that speaks. */
  readonly plan: LivePlan

  constructor(run: ActiveRun, options: LiveCallsOptions) {
    this.#run = run
    this.#options = options
    this.#requests = new LiveRequests(run, options, () => this.#settle())
    this.plan = new LivePlan(run.data, options)
  }

  get #data(): RunData {
    return this.#run.data
  }

  /** How many calls run or are held back. */
  get runningCount(): number {
    return this.#running.size
  }

  /** Is the call still without its result? */
  isRunning(callId: string): boolean {
    return this.#running.has(callId)
  }

  /**
   * Records calls of the model, with what it said before them. Returns the event, and the calls as recorded: an id that is
   * missing, taken or invalid is replaced. Each call is held back until `answer` or `dispatch` names it.
   */
  async record(
    calls: readonly FunctionCall[],
    said: readonly Part[],
    reply: LiveReply,
  ): Promise<{ event: Event; recorded: FunctionCall[] }> {
    const run = this.#data
    const ids = new CallIds(run)
    try {
      const parts = [...said, ...calls.map((functionCall) => ({ functionCall }))]
      const content = ids.fill({ role: 'model', parts })
      const turn = this.plan.turn()
      const event = run.recorder.draft(turn.plan.agent.name, turn.frame, content, {})
      describeReply(event, reply)
      const longRunning = longRunningIds(turn.plan.table, content.parts)
      if (longRunning) event.longRunningToolIds = longRunning
      const filled = content.parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
      for (const { id = '' } of filled) this.#running.set(id, { stop: new StopSignal(), recorder: undefined })
      await run.recorder.commit([{ event }])
      return { event, recorded: filled }
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
    const running = new Map(calls.map(({ id }) => [id, this.#runningOf(id)]))
    const dispatching = dispatch(this.#batch(calls))
      .catch((error) => {
        if (!stop.stopped) this.#data.stop.stop(error) // a failed append: nothing more can be recorded
      })
      .finally(() => {
        for (const [id, one] of running) this.#release(id, one)
        this.#dispatches.delete(dispatching)
        this.#settle()
      })
    this.#dispatches.add(dispatching)
    return dispatching
  }

  #runningOf(callId: string): RunningCall {
    const running = this.#running.get(callId) ?? { stop: new StopSignal(), recorder: undefined }
    this.#running.set(callId, running)
    return running
  }

  /** The call no longer runs. It may have been dispatched again meanwhile: then only the earlier run is over. */
  #release(callId: string, running: RunningCall): void {
    this.#data.stop.delete(running.stop)
    if (this.#running.get(callId) === running) this.#running.delete(callId)
  }

  #batch(calls: readonly CallState[]): Batch {
    const turn = this.plan.turn()
    const batch = new CallBatch(turn, turn.plan.table, calls, runScope)
    batch.live = {
      isStopped: ({ id }) => this.#running.get(id)?.stop.stopped !== undefined,
      batchOf: (call) => this.#batchOf(turn, call),
      closeCall: (call) => this.#closeCall(turn, call),
    }
    return batch
  }

  /** The batch of one call, which can be stopped alone. */
  #batchOf(turn: AgentTurn, call: CallState): Batch {
    const running = this.#runningOf(call.id)
    const { stop } = running
    running.recorder = new ScopeRecorder(this.#data.recorder, stop)
    this.#data.stop.add(stop)
    const host: RunHost = Object.assign(Object.create(this.#data), { stop, recorder: running.recorder })
    const batch = new CallBatch({ ...turn, run: host }, turn.plan.table, [call], runScope)
    const runInScope = batch.runInScope.bind(batch)
    batch.runInScope = async (scoped) => {
      const value = await runInScope(scoped)
      if (value === SUSPENDED) this.#release(call.id, running) // answers continue it while other calls of its message run
      return value
    }
    return batch
  }

  async #closeCall(turn: AgentTurn, call: CallState): Promise<CallResult> {
    const { stop, recorder } = this.#running.get(call.id) as RunningCall // it is removed after its dispatch
    const reason = messageOf(stop.stopped?.reason)
    return await closeStoppedCall(this.#data, { turn, call, recorder, reason })
  }

  /** Cancels calls: those that run are stopped, those that wait for a human are answered. Unknown ids are ignored. */
  async cancel(callIds: readonly string[], reason: string): Promise<void> {
    const stopped = callIds.filter((id) => this.#running.has(id))
    for (const id of stopped) this.#running.get(id)?.stop.stop(new Cancelled(reason))
    const waiting = callIds.filter((id) => !stopped.includes(id))
    await this.#closeWaiting(waiting, reason)
  }

  /** Answers calls that wait for a human. Calls that wait for the result of long-running work go on. */
  async #closeWaiting(callIds: readonly string[], reason: string): Promise<void> {
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
    this.#requests.settle()
  }

  /** Continues calls whose requests are answered, and announces new requests. */
  #settle(): void {
    const { fold, stop } = this.#data
    if (this.#isClosed || stop.stopped) return
    // a request ends the attempt that made it, also while other calls of its message run
    for (const [id, running] of this.#running) {
      const call = fold.calls.get(id)
      if (call && openRequests(call).length > 0) this.#release(id, running)
    }
    this.#requests.settle()
    const step = this.#run.next()
    if (step.type !== 'dispatch') return
    const ready = step.calls.filter(({ id }) => !this.#running.has(id)).map(({ id }) => id)
    if (ready.length) void this.dispatch(ready)
  }

  /** Called with every stored event: a request is announced, and an answer of a human continues its call. */
  onRecorded({ author, content }: Event): void {
    const isRelevant = content?.parts.some(({ functionCall, functionResponse }) =>
      author === 'user' ? functionResponse : functionCall?.name.startsWith(REQUEST_PREFIX),
    )
    if (isRelevant) queueMicrotask(() => this.#settle()) // once all entries of the append are folded
  }

  /** The media after each response of an event, by the id of the call; undefined if there is none. Stored files have their bytes. */
  mediaIn({ content }: Event): Promise<ReadonlyMap<string, readonly Part[]>> | undefined {
    return content && hasMedia(content.parts) ? this.#loadMedia(content) : undefined
  }

  async #loadMedia(content: Content): Promise<ReadonlyMap<string, readonly Part[]>> {
    const [loaded] = await withMedia(this.#data, [content], 0, undefined)
    const media = new Map<string, Part[]>()
    let current: Part[] = []
    for (const part of loaded?.parts ?? []) {
      if (part.functionResponse) {
        current = []
        media.set(part.functionResponse.id ?? '', current)
      } else current.push(part)
    }
    return media
  }

  /** Called with every event of the run: passes on the progress of calls. */
  onPartial({ partial, content, isolationScope }: Event): void {
    const { id = '', name = '', response, willContinue } = content?.parts[0]?.functionResponse ?? {}
    if (!partial || !willContinue || isolationScope !== undefined) return
    if (response && Object.hasOwn(response, 'progress')) this.#options.onProgress(id, name, response.progress)
  }

  /** Announces requests that toolsets made before the first call. */
  announceRequests(): void {
    this.#requests.settle()
  }

  /** Stops all calls and answers those that wait for a human. */
  async close(reason: string): Promise<void> {
    this.#isClosed = true
    this.#requests.close()
    for (const { stop } of this.#running.values()) stop.stop(new Cancelled(reason))
    await Promise.all(this.#dispatches)
    const { fold } = this.#data
    const open = fold.scopes.get(frameOf(this.#data).path)?.calls.filter((call) => fold.isOpen(call)) ?? []
    await this.#closeWaiting(
      open.map(({ id }) => id),
      reason,
    )
  }
}
