import { execute } from './execute.ts'
import type { Batch, LiveBatch } from './host.ts'
import type { AnsweredCall, Outcome, ReadyCall } from './outcome.ts'

/** Runs a prepared call. A call of a live model can be stopped alone: it gets a final response, and its siblings continue. */
export function executeCall(batch: Batch, one: ReadyCall | AnsweredCall): Promise<Outcome> {
  return batch.live ? executeStoppable(batch, one, batch.live) : execute(batch, one)
}

async function executeStoppable(batch: Batch, one: ReadyCall | AnsweredCall, live: LiveBatch): Promise<Outcome> {
  const own = live.batchOf(one.call)
  const { stop } = own.host
  try {
    if (stop.stopped) throw stop.stopped.reason // cancelled while it was prepared
    return await execute(own, one)
  } catch (error) {
    if (batch.host.stop.stopped) throw batch.host.stop.stopped.reason
    if (!stop.stopped) throw error
    return await live.closeCall(one.call)
  }
}
