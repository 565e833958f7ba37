// The calls of a live session that run now. Each can be stopped alone.

import { StopSignal } from '../../../core/base/stop-signal.ts'
import { messageOf } from '../../../core/error/error.ts'
import { type CallState, openRequests } from '../../../core/event/invocation-state.ts'
import { CallBatch } from '../../agent/loop/call-batch.ts'
import type { AgentTurn, RunHost } from '../../agent/loop/run-host.ts'
import { runScope } from '../../agent/loop/run-scope.ts'
import { ScopeRecorder } from '../../agent/loop/scope-recorder.ts'
import { LIVE_RULES } from '../../dispatch/batch-rules.ts'
import { type Batch, SUSPENDED } from '../../dispatch/host.ts'
import type { CallResult } from '../../dispatch/outcome.ts'
import { Cancelled } from '../run/cancelled.ts'
import type { RunData } from '../run/run-data.ts'
import { closeStoppedCall } from './close-call.ts'

/** A call that is held back or being dispatched. */
export interface RunningCall {
  /** The id in the log. */
  readonly id: string
  /** Stops the call alone. */
  readonly stop: StopSignal
  /** Records what happens inside the call. Undefined until its body runs. */
  recorder: ScopeRecorder | undefined
}

/** Calls that are recorded and not answered by this side yet: held back, prepared or running. */
export class RunningCalls {
  readonly #run: RunData
  readonly #calls: Map<string, RunningCall> = new Map()

  constructor(run: RunData) {
    this.#run = run
  }

  /** Does the call run, or is it held back? */
  has(callId: string): boolean {
    return this.#calls.has(callId)
  }

  /** Holds a call back until it is answered, or dispatched and released. */
  hold(id: string): RunningCall {
    const running = this.#calls.get(id) ?? { id, stop: new StopSignal(), recorder: undefined }
    this.#calls.set(id, running)
    return running
  }

  /** The call no longer runs. It may have been dispatched again meanwhile: then only the earlier run is over. */
  release(running: RunningCall): void {
    this.#run.stop.delete(running.stop)
    if (this.#calls.get(running.id) === running) this.#calls.delete(running.id)
  }

  /** The call has its response. */
  delete(callId: string): void {
    this.#calls.delete(callId)
  }

  /** Releases calls that wait for a human: a request ends the attempt that made it, also while other calls of its message run. */
  releaseWaiting(): void {
    for (const running of this.#calls.values()) {
      const call = this.#run.fold.calls.get(running.id)
      if (call && openRequests(call).length > 0) this.release(running)
    }
  }

  /** Stops calls, and returns the ids of those that did run. */
  stop(callIds: Iterable<string>, reason: string): string[] {
    const stopped = [...callIds].filter((id) => this.#calls.has(id))
    for (const id of stopped) this.#calls.get(id)?.stop.stop(new Cancelled(reason))
    return stopped
  }

  /** Stops all calls. */
  stopAll(reason: string): void {
    this.stop(this.#calls.keys(), reason)
  }

  /** The batch of calls of one message, for dispatch. */
  batch(turn: AgentTurn, calls: readonly CallState[]): Batch {
    const batch = new CallBatch(turn, turn.plan.table, calls, runScope)
    batch.rules = LIVE_RULES
    batch.stoppable = {
      isStopped: ({ id }) => this.#calls.get(id)?.stop.stopped !== undefined,
      batchOf: (call) => this.#batchOf(turn, call),
      closeCall: (call) => this.#closeCall(turn, call),
    }
    return batch
  }

  /** The batch of one call, which can be stopped alone. */
  #batchOf(turn: AgentTurn, call: CallState): Batch {
    const running = this.hold(call.id)
    this.#run.stop.add(running.stop)
    const hasScope = call.isCode || turn.plan.table.entries.get(call.name)?.kind !== 'body'
    return hasScope ? this.#scopedBatch(turn, call, running) : this.#bodyBatch(turn, call, running)
  }

  /** A body records nothing, and reports no progress after the stop. */
  #bodyBatch(turn: AgentTurn, call: CallState, { stop }: RunningCall): Batch {
    const host: RunHost = Object.assign(Object.create(this.#run), { stop })
    const batch = new CallBatch({ ...turn, run: host }, turn.plan.table, [call], runScope)
    const { onProgress } = batch
    return Object.assign(batch, {
      onProgress: (...progress: Parameters<typeof onProgress>) => stop.stopped === undefined && onProgress(...progress),
    })
  }

  /** An agent tool or code records in its scope, and nothing after the stop. */
  #scopedBatch(turn: AgentTurn, call: CallState, running: RunningCall): Batch {
    const { stop } = running
    running.recorder = new ScopeRecorder(this.#run.recorder, stop)
    const host: RunHost = Object.assign(Object.create(this.#run), { stop, recorder: running.recorder })
    const batch = new CallBatch({ ...turn, run: host }, turn.plan.table, [call], runScope)
    const runInScope = batch.runInScope.bind(batch)
    batch.runInScope = async (scoped) => {
      const value = await runInScope(scoped)
      if (value === SUSPENDED) this.release(running) // answers continue it while other calls of its message run
      return value
    }
    return batch
  }

  #closeCall(turn: AgentTurn, call: CallState): Promise<CallResult> {
    const { stop, recorder } = this.hold(call.id)
    const reason = messageOf(stop.stopped?.reason)
    return closeStoppedCall(this.#run, { turn, call, recorder, reason })
  }
}
