// The one loop: ask `next`, do it, ask again. A fresh run, a resumed one and one recovered after a crash all walk here.
import { jsonSize } from '../../base/json.ts'
import { MAX_CONTENT_BYTES } from '../../base/limits.ts'
import { unreachable } from '../../base/unreachable.ts'
import type { Content } from '../../content/content.ts'
import { dispatch } from '../../dispatch/dispatch.ts'
import { refreshed, type ToolTable } from '../../dispatch/resolve.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import { type CallState, hasActed } from '../../event/fold.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import { readonlyContext } from '../../tool/invocation.ts'
import type { Agent } from '../agents/agent.ts'
import { PausedInside, runCustom } from '../agents/custom.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { ParallelAgent } from '../agents/workflow.ts'
import { listTools } from '../request/list-tools.ts'
import { fitServerTools } from '../request/server-tools.ts'
import { askModel, end } from './ask-model.ts'
import { CallBatch } from './call-batch.ts'
import { contentFrom } from './callback-result.ts'
import { activeAgent, type FoldedLog, next, type ScopedAgent } from './next.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'

/** Takes a scope as far as it goes: to its end, or to where somebody must be waited for. */
export async function runScope(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<'done' | 'wait'> {
  const log: FoldedLog = { fold: run.fold, tree: frame.tree, progress: run.progress }
  let inCharge: Agent | undefined
  for (;;) {
    throwIfStopped(run)
    const now = activeAgent(agent, log, frame.path)
    const step = next(agent, log, frame.path)
    if (step.type === 'wait') return 'wait'
    try {
      if (now.agent !== inCharge || step.type === 'done') {
        const before = inCharge
        inCharge = undefined // asked once, also when it throws
        if (before && frame.tree.hooks(before).afterAgent.length) await afterAgent(run, before, frame)
        if (step.type === 'done') return 'done'
        if (now.path !== frame.path) return await runScope(run, now.agent, { ...frame, path: now.path })
        inCharge = now.agent
        if (frame.tree.hooks(inCharge).beforeAgent.length && (await beforeAgent(run, inCharge, frame))) continue
      }
      switch (step.type) {
        case 'ask-model':
          await askModel(run, frame.tree.plan(step.agent), frame, currentTools(run, step.agent, frame))
          break
        case 'dispatch':
          run.progress.dispatching++
          try {
            await dispatchCalls(run, step.agent, frame, step.calls)
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
      run.services.logger.error(`Agent "${now.agent.name}" failed: ${messageOf(error)}`, error)
      await end(run, now.agent.name, frame, 'AGENT_ERROR', messageOf(error))
    }
  }
}

function throwIfStopped({ stop }: RunHost): void {
  if (stop.stopped) throw stop.stopped.reason
}

/** The tools of an agent as they are for this request. */
function currentTools(run: RunHost, agent: LlmAgent, frame: ScopeFrame): ToolTable | Promise<ToolTable> {
  const { table } = frame.tree.plan(agent)
  const current = refreshed(table, run.services.logger)
  if (agent.dynamicTools.length) return listCurrentTools(run, agent, frame, current)
  if (current !== table || run.progress.tables?.get(agent)) keepTable(run, agent, current)
  return current
}

function keepTable({ progress }: RunHost, agent: LlmAgent, table: ToolTable): void {
  progress.tables ??= new Map()
  progress.tables.set(agent, table)
}

async function listCurrentTools(
  run: RunHost,
  agent: LlmAgent,
  frame: ScopeFrame,
  table: ToolTable,
): Promise<ToolTable> {
  const context = readonlyContext(run, agent.name, frame.branch)
  const warn = (problem: string): void => run.services.logger.warn(problem)
  const { keptToolsets: kept, ports } = run.services
  const all = await listTools(agent.dynamicTools, table, { context, kept, ports, report: warn })
  const listed = fitServerTools(all, frame.tree.plan(agent).model, agent.name, warn)
  keepTable(run, agent, listed)
  return listed
}

/** The tools a reply was offered; listed again only after a restart. */
function dispatchCalls(run: RunHost, agent: LlmAgent, frame: ScopeFrame, calls: readonly CallState[]): Promise<void> {
  const table = run.progress.tables?.get(agent) ?? currentTools(run, agent, frame)
  const start = (tools: ToolTable): Promise<void> =>
    dispatch(new CallBatch(run, frame, frame.tree.plan(agent), tools, calls, runScope))
  return table instanceof Promise ? table.then(start) : start(table)
}

async function runChildren(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  children: readonly ScopedAgent[],
): Promise<'done' | 'wait'> {
  const only = children[0] as ScopedAgent
  if (only.path === frame.path) return await runItself(run, agent, frame)
  const inBranch = agent instanceof ParallelAgent
  const walks = children.map((child) => {
    const branch = inBranch
      ? `${frame.branch ? `${frame.branch}.` : ''}${agent.name}.${child.agent.name}`
      : frame.branch
    return runChildScope(run, child.agent, { ...frame, path: child.path, branch })
  })
  // all of them come to rest before a stop goes on up: nothing of this run is left behind
  for (const settled of await Promise.allSettled(walks)) if (settled.status === 'rejected') throw settled.reason
  return 'done' // what they wait for is for `next` to say
}

async function runChildScope(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<'done' | 'wait'> {
  const outcome = await runScope(run, agent, frame)
  if (outcome === 'done' && !run.fold.begun(frame.path)) {
    await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, undefined, { endOfAgent: true }) }])
  }
  return outcome
}

async function runItself(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<'done' | 'wait'> {
  try {
    await runCustom(run, agent, frame, runChildScope)
    return 'done'
  } catch (error) {
    if (error instanceof PausedInside) return 'wait'
    throw error
  }
}

/** Calls the callbacks of an agent that gets control here for the first time; true when one answered in its place. */
async function beforeAgent(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<boolean> {
  const hooks = frame.tree.hooks(agent).beforeAgent
  const key = `${frame.path}\n${agent.name}`
  const scope = run.fold.scopes.get(frame.path)
  const begun = agent instanceof LlmAgent ? hasActed(scope, agent.name) : run.fold.begun(frame.path)
  if (begun || run.progress.entered?.has(key)) return false
  run.progress.entered ??= new Set()
  run.progress.entered.add(key)
  const context = new RunCallbackContext(run, agent.name, frame.branch)
  for (const hook of hooks) {
    const content = contentFrom('beforeAgent', agent.name, await hook({ context }))
    if (!content) continue
    const actions = { ...context.take(), ...(agent instanceof LlmAgent ? {} : { endOfAgent: true }) }
    await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, asReply(content), actions) }])
    return true
  }
  const actions = context.take()
  if (actions) await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, undefined, actions) }])
  return false
}

/** Calls the callbacks of an agent that is at its end here; content they give is said last. */
async function afterAgent(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<void> {
  const hooks = frame.tree.hooks(agent).afterAgent
  const context = new RunCallbackContext(run, agent.name, frame.branch)
  let said: Content | undefined
  for (const hook of hooks) said = contentFrom('afterAgent', agent.name, await hook({ context })) ?? said
  const actions = context.take()
  if (said || actions)
    await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, said && asReply(said), actions ?? {}) }])
}

/** What a callback says in an agent's place; it calls nothing. */
function asReply(content: Content): Content {
  if (jsonSize(content.parts, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES) {
    throw new ToolwrightError('TOO_LARGE', `The content of a callback has more than ${MAX_CONTENT_BYTES} bytes.`)
  }
  return { role: 'model', parts: content.parts.filter((part) => !part.functionCall && !part.executableCode) }
}
