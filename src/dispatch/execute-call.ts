import { execute } from './execute.ts'
import type { Batch, LiveBatch } from './host.ts'
import type { AnsweredCall, Outcome, ReadyCall } from './outcome.ts'
import { runInBackground } from './run-in-background.ts'

/** Runs a prepared call, in the background if its tool is marked so. A call of a live model can be stopped alone: it gets a final response, and its siblings continue. */
export function executeCall(batch: Batch, one: ReadyCall | AnsweredCall): Promise<Outcome> {
  if (batch.live) return executeStoppable(batch, one, batch.live)
  const { background } = one.entry
  const runner = background && batch.host.services.background
  if (!runner || one.type !== 'ready' || one.entry.kind !== 'body' || one.entry.tool.isLongRunning)
    return execute(batch, one)
  return Promise.resolve(runInBackground(batch, one, { background, runner }))
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
