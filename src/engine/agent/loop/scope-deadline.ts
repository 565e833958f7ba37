// The deadline of an agent tool: when it passes, the agent's scope ends and the rest of the run continues.
import type { Deadline } from '../../../core/base/deadlines.ts'
import { StopSignal } from '../../../core/base/stop-signal.ts'
import { isWithin } from '../../../core/event/scope.ts'
import { cancelWork, forgetConsents } from '../../dispatch/cancel-work.ts'
import { closingEntries, startedWork } from '../../dispatch/close-scope.ts'
import type { UnrecordedResult } from '../../dispatch/host.ts'
import { Timeout } from '../../dispatch/wait-with-deadline.ts'
import type { Agent } from '../agents/agent.ts'
import { findTool } from './find-tool.ts'
import { next } from './next.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'
import { ScopeRecorder } from './scope-recorder.ts'

type RunScope = (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>

/**
 * Runs a scope. Ends it with a recorded `TIMEOUT` if it takes longer than `timeoutMs`. Only time in this process
 * counts.
 */
export async function runScopeWithDeadline(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  limit: { readonly name: string; readonly timeoutMs: number; readonly runScope: RunScope },
): Promise<'done' | 'wait'> {
  const { name, timeoutMs, runScope } = limit
  const { deadlines } = run.services
  const timeout = new Timeout(`${name} timed out after ${timeoutMs} ms`)
  const stop = new StopSignal()
  const recorder = new ScopeRecorder(run.recorder, stop)
  const deadline: Deadline = { at: Number.POSITIVE_INFINITY, isOver: true, expire: () => stop.stop(timeout) }
  run.stop.add(stop)
  if (!run.stop.stopped) deadlines.set(timeoutMs, deadline)
  try {
    // the scope sees the same run, but has its own stop signal and recorder
    const host: RunHost = Object.assign(Object.create(run), { stop, recorder })
    return await unlessStopped(stop, runScope(host, agent, frame))
  } catch (error) {
    if (run.stop.stopped) throw run.stop.stopped.reason
    if (error !== timeout) throw error
    await recorder.committed()
    await closeScope(run, agent, frame, { reason: timeout.message, unrecorded: recorder.unrecorded.flat() })
    return 'done'
  } finally {
    run.stop.delete(stop)
    deadlines.clear(deadline)
  }
}

/** Waits for work. A stop rejects, even if the work hangs. */
function unlessStopped<T>(stop: StopSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    stop.add({ stop: reject })
    work.then(resolve, reject)
  })
}

/** Answers every open call in the scope and ends the scope, in one append. */
async function closeScope(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  ending: { readonly reason: string; readonly unrecorded: readonly (UnrecordedResult | undefined)[] },
): Promise<void> {
  const { fold, progress } = run
  const log = { fold, tree: frame.tree, progress }
  if (next(agent, log, frame.path).type === 'done') return // its final answer was recorded in the meantime
  const started = startedWork(fold, ending.unrecorded, (call) => findTool(run, call)).filter(({ call }) =>
    isWithin(call.path, frame.path),
  )
  if (started.length) await cancelWork(run, started)
  const timeout = { author: agent.name, scope: frame, errorCode: 'TIMEOUT', isScope: true } as const
  const entries = closingEntries(run, { ...timeout, started, ...ending })
  await run.recorder.commit(entries)
  const inside = [...fold.calls.values()].filter((call) => isWithin(call.path, frame.path))
  await forgetConsents(run, inside)
}
