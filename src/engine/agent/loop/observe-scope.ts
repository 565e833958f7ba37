// Shows the agents of a scope to observers, one after another.

import type { Settled } from '../../observe/observation.ts'
import type { AgentOperation, Operation, OperationEnd } from '../../observe/operation.ts'
import type { Agent } from '../agents/agent.ts'
import { activeAgent, type FoldedLog, next } from './next.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'

/** How an agent leaves its scope: done, waiting, or with another agent active. */
export type ScopeEnd = 'done' | 'wait' | 'moved'

/** Runs a scope. Each agent that works in it is an operation. The root agent of a run is not: the run itself is its operation. */
export async function observeScope(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame & { readonly operation: Operation },
  runAgent: (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<ScopeEnd>,
): Promise<'done' | 'wait'> {
  for (;;) {
    const end = await observeAgent(run, agent, frame, runAgent)
    if (end !== 'moved') return end
  }
}

function observeAgent(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame & { readonly operation: Operation },
  runAgent: (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<ScopeEnd>,
): Promise<ScopeEnd> {
  const { operation: parent, path, tree } = frame
  const log: FoldedLog = { fold: run.fold, tree, progress: run.progress }
  const { observation } = run.services
  const step = next(agent, log, path)
  const now = activeAgent(agent, log, path)
  const isOver = step.type === 'done' || step.type === 'wait'
  const isOfRun = parent.type === 'run' && parent.agent === now.agent.name
  if (!observation || isOver || isOfRun || now.path !== path) return runAgent(run, agent, frame)
  const { name, description } = now.agent
  const operation: AgentOperation = { type: 'agent', run: parent.run, parent, agent: name, description, path }
  const endOf = (settled: Settled<ScopeEnd>): OperationEnd => endOfAgent(run, path, settled)
  return observation.around(operation, () => runAgent(run, agent, { ...frame, operation }), endOf, run.stop)
}

function endOfAgent({ stop, fold }: RunHost, path: string, settled: Settled<ScopeEnd>): OperationEnd {
  if (!('value' in settled))
    return stop.stopped
      ? { outcome: 'cancelled' }
      : { outcome: 'failed', errorCode: 'AGENT_ERROR', error: settled.error }
  if (settled.value === 'wait') return { outcome: 'paused' }
  const errorCode = fold.scopes.get(path)?.error?.code
  if (errorCode === undefined) return { outcome: 'completed' }
  return { outcome: errorCode === 'CANCELLED' ? 'cancelled' : 'failed', errorCode }
}
