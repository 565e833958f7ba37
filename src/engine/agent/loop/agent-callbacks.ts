// Callbacks around an agent: `beforeAgent` when the agent is first active in a scope, `afterAgent` when it ends there.
import { jsonSize } from '../../../core/base/json.ts'
import { MAX_CONTENT_BYTES } from '../../../core/base/limits.ts'
import type { Content } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { hasActed } from '../../../core/event/invocation-state.ts'
import { RunCallbackContext } from '../../context/callback-context.ts'
import type { Agent } from '../agents/agent.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { contentFrom } from './callback-result.ts'
import type { RunHost, ScopeFrame } from './run-host.ts'

/** Calls the callbacks once per scope. True if the content of a callback replaces the agent's answer. */
export async function beforeAgent(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<boolean> {
  const hooks = frame.tree.hooks(agent).beforeAgent
  const key = `${frame.path}\n${agent.name}`
  const scope = run.fold.scopes.get(frame.path)
  const hasStarted = agent instanceof LlmAgent ? hasActed(scope, agent.name) : run.fold.hasStarted(frame.path)
  if (hasStarted || run.progress.entered?.has(key)) return false
  run.progress.entered ??= new Set()
  run.progress.entered.add(key)
  const context = new RunCallbackContext(run, agent.name, frame.branch)
  for (const hook of hooks) {
    const content = contentFrom('beforeAgent', agent.name, await hook({ context }))
    if (!content) continue
    const actions = { ...context.take(), ...(agent instanceof LlmAgent ? {} : { endOfAgent: true }) }
    await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, toReply(agent, content), actions) }])
    return true
  }
  const actions = context.take()
  if (actions) await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, undefined, actions) }])
  return false
}

/** Calls the callbacks. The content of the last one that returns any is recorded as the agent's last reply. */
export async function afterAgent(run: RunHost, agent: Agent, frame: ScopeFrame): Promise<void> {
  const hooks = frame.tree.hooks(agent).afterAgent
  const context = new RunCallbackContext(run, agent.name, frame.branch)
  let content: Content | undefined
  for (const hook of hooks) content = contentFrom('afterAgent', agent.name, await hook({ context })) ?? content
  const actions = context.take()
  if (!content && !actions) return
  const reply = content && toReply(agent, content)
  await run.recorder.commit([{ event: run.recorder.draft(agent.name, frame, reply, actions ?? {}) }])
}

/** The content of a callback as a reply of the agent, without calls and code. */
function toReply({ name }: Agent, content: Content): Content {
  if (jsonSize(content.parts, MAX_CONTENT_BYTES) > MAX_CONTENT_BYTES) {
    throw new ToolwrightError(
      'TOO_LARGE',
      `The content of a callback of agent "${name}" has more than ${MAX_CONTENT_BYTES} bytes. Save large data as an artifact.`,
    )
  }
  return { role: 'model', parts: content.parts.filter((part) => !part.functionCall && !part.executableCode) }
}
