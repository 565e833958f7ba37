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
import { askModel, end } from './ask-model.ts'
import { CallBatch } from './call-batch.ts'
import { PausedInside, runCustom } from '../agents/custom.ts'
import { contentFrom } from './callback-result.ts'
import { listTools } from '../request/list-tools.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { agentInCharge, type Child, type Log, next } from './next.ts'
import type { Place, RunHost } from './run-host.ts'
import { fitServerTools } from '../request/server-tools.ts'
import { ParallelAgent } from '../agents/workflow.ts'

/** Takes a scope as far as it goes: to its end, or to where somebody must be waited for. */
export async function walk(run: RunHost, agent: Agent, place: Place): Promise<'done' | 'wait'> {
  const log: Log = { fold: run.fold, tree: place.tree, listed: (one) => run.tableOf(one) }
  let inCharge: Agent | undefined
  for (;;) {
    throwIfStopped(run)
    const now = agentInCharge(agent, log, place.path)
    const step = next(agent, log, place.path)
    if (step.type === 'wait') return 'wait'
    try {
      if (now.agent !== inCharge || step.type === 'done') {
        const before = inCharge
        inCharge = undefined // asked once, also when it throws
        if (before && place.tree.hooks(before).afterAgent.length) await afterAgent(run, before, place)
        if (step.type === 'done') return 'done'
        if (now.path !== place.path) return await walk(run, now.agent, { ...place, path: now.path })
        inCharge = now.agent
        if (place.tree.hooks(inCharge).beforeAgent.length && (await beforeAgent(run, inCharge, place))) continue
      }
      switch (step.type) {
        case 'ask-model':
          await askModel(run, place.tree.plan(step.agent), place, toolsNow(run, step.agent, place))
          break
        case 'dispatch':
          run.dispatching++
          try {
            await answer(run, step.agent, place, step.calls)
          } finally {
            run.dispatching--
          }
          break
        case 'run':
          if ((await runChildren(run, now.agent, place, step.children)) === 'wait') return 'wait'
          break
        default:
          unreachable(step)
      }
    } catch (error) {
      throwIfStopped(run)
      run.logger.error(`Agent "${now.agent.name}" failed: ${messageOf(error)}`, error)
      await end(run, now.agent.name, place, 'AGENT_ERROR', messageOf(error))
    }
  }
}

function throwIfStopped({ stopped }: RunHost): void {
  if (stopped) throw stopped.reason
}

/** The tools of an agent as they are for this request. */
function toolsNow(run: RunHost, agent: LlmAgent, place: Place): ToolTable | Promise<ToolTable> {
  const { table } = place.tree.plan(agent)
  const current = refreshed(table, run.logger)
  if (agent.dynamicTools.length) return listNow(run, agent, place, current)
  if (current !== table || run.tableOf(agent)) run.keepTable(agent, current)
  return current
}

async function listNow(run: RunHost, agent: LlmAgent, place: Place, table: ToolTable): Promise<ToolTable> {
  const context = readonlyContext(run, agent.name, place.branch)
  const warn = (problem: string): void => run.logger.warn(problem)
  const { keptToolsets: kept, ports } = run
  const all = await listTools(agent.dynamicTools, table, { context, kept, ports, report: warn })
  const listed = fitServerTools(all, place.tree.plan(agent).model, agent.name, warn)
  run.keepTable(agent, listed)
  return listed
}

/** The tools a reply was offered; listed again only after a restart. */
function answer(run: RunHost, agent: LlmAgent, place: Place, calls: readonly CallState[]): Promise<void> {
  const table = run.tableOf(agent) ?? toolsNow(run, agent, place)
  const start = (tools: ToolTable): Promise<void> =>
    dispatch(new CallBatch(run, place, place.tree.plan(agent), tools, calls, walk))
  return table instanceof Promise ? table.then(start) : start(table)
}

async function runChildren(
  run: RunHost,
  agent: Agent,
  place: Place,
  children: readonly Child[],
): Promise<'done' | 'wait'> {
  const only = children[0] as Child
  if (only.path === place.path) return await runItself(run, agent, place)
  const inBranch = agent instanceof ParallelAgent
  const walks = children.map((child) => {
    const branch = inBranch
      ? `${place.branch ? `${place.branch}.` : ''}${agent.name}.${child.agent.name}`
      : place.branch
    return walkChild(run, child.agent, { ...place, path: child.path, branch })
  })
  // all of them come to rest before a stop goes on up: nothing of this run is left behind
  for (const settled of await Promise.allSettled(walks)) if (settled.status === 'rejected') throw settled.reason
  return 'done' // what they wait for is for `next` to say
}

async function walkChild(run: RunHost, agent: Agent, place: Place): Promise<'done' | 'wait'> {
  const outcome = await walk(run, agent, place)
  if (outcome === 'done' && !run.fold.begun(place.path)) {
    await run.commit([{ event: run.draft(agent.name, place, undefined, { endOfAgent: true }) }])
  }
  return outcome
}

async function runItself(run: RunHost, agent: Agent, place: Place): Promise<'done' | 'wait'> {
  try {
    await runCustom(run, agent, place, walkChild)
    return 'done'
  } catch (error) {
    if (error instanceof PausedInside) return 'wait'
    throw error
  }
}

/** Calls the callbacks of an agent that gets control here for the first time; true when one answered in its place. */
async function beforeAgent(run: RunHost, agent: Agent, place: Place): Promise<boolean> {
  const hooks = place.tree.hooks(agent).beforeAgent
  const key = `${place.path}\n${agent.name}`
  const scope = run.fold.scopes.get(place.path)
  const begun = agent instanceof LlmAgent ? hasActed(scope, agent.name) : run.fold.begun(place.path)
  if (begun || !run.enter(key)) return false
  const context = new RunCallbackContext(run, agent.name, place.branch)
  for (const hook of hooks) {
    const content = contentFrom('beforeAgent', agent.name, await hook({ context }))
    if (!content) continue
    const actions = { ...context.take(), ...(agent instanceof LlmAgent ? {} : { endOfAgent: true }) }
    await run.commit([{ event: run.draft(agent.name, place, asReply(content), actions) }])
    return true
  }
  const actions = context.take()
  if (actions) await run.commit([{ event: run.draft(agent.name, place, undefined, actions) }])
  return false
}

/** Calls the callbacks of an agent that is at its end here; content they give is said last. */
async function afterAgent(run: RunHost, agent: Agent, place: Place): Promise<void> {
  const hooks = place.tree.hooks(agent).afterAgent
  const context = new RunCallbackContext(run, agent.name, place.branch)
  let said: Content | undefined
  for (const hook of hooks) said = contentFrom('afterAgent', agent.name, await hook({ context })) ?? said
  const actions = context.take()
  if (said || actions) await run.commit([{ event: run.draft(agent.name, place, said && asReply(said), actions ?? {}) }])
}

/** What a callback says in an agent's place; it calls nothing. */
function asReply(content: Content): Content {
  if (jsonSize(content.parts, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES) {
    throw new ToolwrightError('TOO_LARGE', `The content of a callback has more than ${MAX_CONTENT_BYTES} bytes.`)
  }
  return { role: 'model', parts: content.parts.filter((part) => !part.functionCall && !part.executableCode) }
}
