// Callbacks around an agent: `beforeAgent` when it first gets control in a scope, `afterAgent` when it ends there.
import { jsonSize } from '../../base/json.ts'
import { MAX_CONTENT_BYTES } from '../../base/limits.ts'
import type { Content } from '../../content/content.ts'
import { ToolwrightError } from '../../error/error.ts'
import { hasActed } from '../../event/scope-state.ts'
import { RunCallbackContext } from '../../tool/callback-context.ts'
import type { Agent } from '../agents/agent.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { contentFrom } from './callback-result.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'

/** Calls the callbacks once per scope; true when one of them answered instead of the agent. */
export async function beforeAgent(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<boolean> {
  const hooks = frame.tree.hooks(agent).beforeAgent
  const key = `${frame.path}\n${agent.name}`
  const scope = run.fold.scopes.get(frame.path)
  const begun = agent instanceof LlmAgent ? hasActed(scope, agent.name) : run.fold.hasStarted(frame.path)
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

/** Calls the callbacks; content they return is the agent's last reply. */
export async function afterAgent(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<void> {
  const hooks = frame.tree.hooks(agent).afterAgent
  const context = new RunCallbackContext(run, agent.name, frame.branch)
  let said: Content | undefined
  for (const hook of hooks) said = contentFrom('afterAgent', agent.name, await hook({ context })) ?? said
  const actions = context.take()
  if (said || actions)
    await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, said && asReply(said), actions ?? {}) }])
}

/** Content of a callback as a reply. It cannot hold calls or code. */
function asReply(content: Content): Content {
  if (jsonSize(content.parts, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES) {
    throw new ToolwrightError('TOO_LARGE', `The content of a callback has more than ${MAX_CONTENT_BYTES} bytes.`)
  }
  return { role: 'model', parts: content.parts.filter((part) => !part.functionCall && !part.executableCode) }
}
