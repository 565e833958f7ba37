// The agent loop: call `next`, do what it returns, repeat. New, resumed and recovered runs all use it.
import { loadLater } from '../../../core/base/load-later.ts'
import { unreachable } from '../../../core/base/unreachable.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { CallState } from '../../../core/event/invocation-state.ts'
import { readonlyContext } from '../../context/readonly-context.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import { refreshToolTable, type ToolTable } from '../../dispatch/resolve.ts'
import type { Agent } from '../agents/agent.ts'
import type { AgentPlan } from '../agents/agent-plan.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { ParallelAgent } from '../agents/workflow.ts'
import { type ListingOptions, listTools } from '../request/list-tools.ts'
import { fitServerTools } from '../request/server-tools.ts'
import { ConsentNeeded, ToolsetCredentials } from '../request/toolset-credentials.ts'
import { afterAgent, beforeAgent } from './agent-callbacks.ts'
import { askModel } from './ask-model.ts'
import { CallBatch } from './call-batch.ts'
import { endingEvent } from './end-scope.ts'
import { activeAgent, type FoldedLog, next, type ScopedAgent } from './next.ts'
import { observeScope, type ScopeEnd } from './observe-scope.ts'
import type { AgentTurn, RunHost, ScopeFrame } from './run-host.ts'

const customAgents = loadLater(() => import('../agents/custom-agent.ts'))

/** Runs a scope to its end, or until it waits for an answer or a result. Only an observed one ends when another agent becomes active. */
export const runScope = (run: RunHost, agent: Agent, frame: ScopeFrame): Promise<'done' | 'wait'> =>
  frame.operation
    ? observeScope(run, agent, { ...frame, operation: frame.operation }, runAgents)
    : (runAgents(run, agent, frame) as Promise<'done' | 'wait'>)

/** Runs the agents of a scope; of an observed one, until another agent becomes active. */
async function runAgents(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<ScopeEnd> {
  const { tree } = frame
  const log: FoldedLog = { fold: run.fold, tree, progress: run.progress }
  let active: Agent | undefined
  let turn: AgentTurn | undefined
  for (;;) {
    throwIfStopped(run)
    const now = activeAgent(agent, log, frame.path)
    const step = next(agent, log, frame.path)
    if (step.type === 'wait') return 'wait'
    try {
      if (now.agent !== active || step.type === 'done') {
        const before = active
        active = undefined // `afterAgent` runs once, also if it throws
        if (before && tree.hooks(before).afterAgent.length) await afterAgent(run, before, frame)
        if (step.type === 'done') return 'done'
        if (before && frame.operation) return 'moved'
        if (now.path !== frame.path) return await runScope(run, now.agent, { ...frame, path: now.path })
        active = now.agent
        turn = active instanceof LlmAgent ? { run, frame, plan: tree.plan(active) } : undefined
        if (tree.hooks(active).beforeAgent.length && (await beforeAgent(run, active, frame))) continue
      }
      switch (step.type) {
        case 'ask-model':
          await askModel(turn as AgentTurn, currentTools(turn as AgentTurn)) // the active agent is an LlmAgent
          break
        case 'dispatch':
          run.progress.dispatching++
          try {
            await dispatchCalls(turn as AgentTurn, step.calls)
          } finally {
            run.progress.dispatching--
          }
          break
        case 'run':
          if ((await runChildren(run, now.agent, frame, step.children)) === 'wait') return 'wait'
          break
        default:
          unreachable(step)
      }
    } catch (error) {
      throwIfStopped(run)
      if (error instanceof ConsentNeeded) {
        await run.recorder.commit(error.entries)
        continue
      }
      const errorMessage = messageOf(error)
      run.services.logger.error(`Agent "${now.agent.name}" failed: ${errorMessage}`, error)
      const event = endingEvent(run, now.agent.name, frame, { errorCode: 'AGENT_ERROR', errorMessage })
      await run.recorder.commit([{ event }])
    }
  }
}

function throwIfStopped({ stop }: RunHost): void {
  if (stop.stopped) throw stop.stopped.reason
}

/** The tools of an agent for this request. */
export function currentTools(turn: AgentTurn): ToolTable | Promise<ToolTable> {
  const { run, plan } = turn
  const { agent, table } = plan
  const current = table.changeable.length ? refreshToolTable(table, run.services.logger) : table
  if (agent.dynamicTools.length) return listCurrentTools(turn, current)
  if (current !== table || run.progress.tables?.get(agent)) keepTable(run, plan, current)
  return current
}

function listCurrentTools(turn: AgentTurn, table: ToolTable): ToolTable | Promise<ToolTable> {
  const { run, plan, frame } = turn
  const { agent, model } = plan
  const context = readonlyContext(run, agent.name, frame.branch)
  const warn = (problem: string): void => run.services.logger.warn(problem)
  const { keptToolsets: kept, ports } = run.services
  const credentials = new ToolsetCredentials(turn)
  const contextFor: ListingOptions['contextFor'] = (toolset, config) => credentials.contextFor(toolset, config)
  const keep = (all: ToolTable): ToolTable => {
    credentials.throwIfNeeded()
    const listed = fitServerTools(all, model, agent.name, warn)
    keepTable(run, plan, listed)
    return listed
  }
  const listed = listTools(agent.dynamicTools, table, { context, kept, ports, contextFor, report: warn })
  return listed instanceof Promise ? listed.then(keep) : keep(listed)
}

function keepTable({ progress }: RunHost, { agent }: AgentPlan, table: ToolTable): void {
  progress.tables ??= new Map()
  progress.tables.set(agent, table)
}

/** Dispatches calls to the tools that the model saw. Dynamic tools are listed again only after a restart. */
function dispatchCalls(turn: AgentTurn, calls: readonly CallState[]): Promise<void> {
  const table = turn.run.progress.tables?.get(turn.plan.agent) ?? currentTools(turn)
  if (!(table instanceof Promise)) return dispatch(new CallBatch(turn, table, calls, runScope))
  return table.then((listed) => dispatch(new CallBatch(turn, listed, calls, runScope)))
}

async function runChildren(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  children: readonly ScopedAgent[],
): Promise<'done' | 'wait'> {
  const only = children[0] as ScopedAgent
  if (only.path === frame.path) return await runCustomScope(run, agent, frame)
  const inBranch = agent instanceof ParallelAgent
  const scopes = children.map((child) => {
    const branch = inBranch
      ? `${frame.branch ? `${frame.branch}.` : ''}${agent.name}.${child.agent.name}`
      : frame.branch
    return runChildScope(run, child.agent, { ...frame, path: child.path, branch })
  })
  // every child settles before an error is thrown: no work of this run is left behind
  for (const settled of await Promise.allSettled(scopes)) if (settled.status === 'rejected') throw settled.reason
  return 'done' // `next` decides whether the scope waits
}

async function runChildScope(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<'done' | 'wait'> {
  const outcome = await runScope(run, agent, frame)
  if (outcome === 'done' && !run.fold.hasStarted(frame.path)) {
    await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, undefined, { endOfAgent: true }) }])
  }
  return outcome
}

async function runCustomScope(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<'done' | 'wait'> {
  const { ChildPaused, runCustomAgent } = await customAgents()
  try {
    await runCustomAgent(run, agent, frame, runChildScope)
    return 'done'
  } catch (error) {
    if (error instanceof ChildPaused) return 'wait'
    throw error
  }
}
