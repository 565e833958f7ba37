// P7: workflow agents run their children in order, and no event follows the final answer of a scope.
import type { Event } from 'toolwright'
import type { Evidence } from '../evidence.ts'
import type { AgentSpec, WorkflowSpec } from '../plan.ts'
import type { AuditedLog } from './log.ts'
import { agentsOf } from './one-dispatcher.ts'
import type { Violation } from './violation.ts'

export function* rightOrder({ plan }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const workflows = new Map<string, WorkflowSpec>()
  for (const agent of agentsOf(plan.root)) if (agent.type !== 'llm') workflows.set(agent.name, agent)
  for (const log of logs) {
    const { session, evidence } = log
    const ends = evidence.entries.filter(({ event }) => isEnd(event)).map(({ seq }) => log.stored(seq)?.tick)
    // responses that were stored with the end of their invocation do not show which child was active
    const events = evidence.entries.flatMap(({ event, seq }) =>
      event && !(event.content?.role === 'tool' && ends.includes(log.stored(seq)?.tick)) ? [event] : [],
    )
    for (const [invocationId, own] of Map.groupBy(events, (event) => event.invocationId)) {
      const until = own.filter((event) => !isEnd(event))
      for (const problem of [
        ...childOrder(until, workflows),
        ...eventsAfterAnswer(until),
        ...activeAgents(until, plan.root),
      ])
        yield { promise: 'P7', says: `${session}: invocation ${invocationId}: ${problem}` }
    }
  }
}

function isEnd(event: Event | undefined): boolean {
  return event?.errorCode === 'CANCELLED' || event?.errorCode === 'AGENT_ERROR'
}

/** In a sequence or a loop, no child continues after a later child has begun, and none begins after the workflow ended. */
function* childOrder(events: readonly Event[], workflows: ReadonlyMap<string, WorkflowSpec>): Iterable<string> {
  const latest = new Map<string, number>()
  const ended = new Set<string>()
  /** The workflows that ended because a child failed. Another attempt of their agent tool continues them. */
  const failed = new Set<string>()
  for (const event of events) {
    const { isolationScope, content, errorCode } = event
    if (isolationScope !== undefined && content?.role === 'user')
      for (const path of failed)
        if (path === isolationScope || path.startsWith(`${isolationScope}/`)) ended.delete(path)
    const steps = event.nodeInfo?.path.split('/') ?? []
    for (let depth = 0; depth + 1 < steps.length; depth++) {
      const workflow = workflows.get(nameOf(steps[depth] ?? ''))
      const step = steps[depth + 1] ?? ''
      if (!workflow || workflow.type === 'parallel') continue
      const child = workflow.children.findIndex(({ name }) => name === nameOf(step))
      if (child < 0) continue // the target of a transfer
      const position = (Number(step.slice(step.lastIndexOf('@') + 1)) - 1) * workflow.children.length + child
      const above = steps.slice(0, depth + 1).join('/')
      const before = latest.get(above) ?? -1
      if (position < before) yield `${step} continues in ${above} after a later child has begun`
      if (position > before + 1) yield `${step} begins in ${above} before its turn`
      if (position > before && ended.has(above)) yield `${step} begins in ${above} after it has ended`
      latest.set(above, Math.max(position, before))
    }
    for (const above of endedBy(event, steps, workflows)) {
      ended.add(above)
      if (errorCode !== undefined) failed.add(above)
    }
  }
}

/** Workflows that this event ends: on escalation up to the innermost loop, on failure the workflow of the child. */
function endedBy(
  { actions, errorCode }: Event,
  steps: readonly string[],
  workflows: ReadonlyMap<string, WorkflowSpec>,
) {
  const ended: string[] = []
  for (let depth = steps.length - 2; depth >= 0; depth--) {
    const workflow = workflows.get(nameOf(steps[depth] ?? ''))
    const isChild = workflow?.children.some(({ name }) => name === nameOf(steps[depth + 1] ?? ''))
    if (!workflow || !isChild || (!actions.escalate && errorCode === undefined)) break
    if (workflow.type !== 'parallel') ended.push(steps.slice(0, depth + 1).join('/'))
    if (workflow.type === 'loop' || !actions.escalate) break
  }
  return ended
}

/** After its final answer, a model is not asked again in its scope. */
function* eventsAfterAnswer(events: readonly Event[]): Iterable<string> {
  const spoken = new Set<string>()
  for (const { nodeInfo, content, actions, author, longRunningToolIds, errorCode } of events) {
    const path = nodeInfo?.path
    if (path === undefined || author === 'user') continue
    if (spoken.has(path) && (content || errorCode)) yield `an event follows the final answer of ${path}`
    if (content?.role !== 'model' || longRunningToolIds || actions.skipSummarization) continue
    if (content.parts.every((part) => part.text !== undefined)) spoken.add(path)
  }
}

/** The author in a scope is the agent of the scope, or the target of a transfer. */
function* activeAgents(events: readonly Event[], root: AgentSpec): Iterable<string> {
  const activeAgent = new Map<string, string>()
  for (const { nodeInfo, content, actions, author } of events) {
    const path = nodeInfo?.path
    if (path === undefined || author === 'user') continue
    const scope = path.split('/').at(-1) ?? ''
    if (content?.role === 'model' && path !== root.name && !/^call@/.test(scope)) {
      const expected = activeAgent.get(path) ?? nameOf(scope)
      if (author !== expected) yield `${author} is the author in ${path}, where ${expected} is the active agent`
    }
    if (actions.transferToAgent !== undefined) activeAgent.set(path, actions.transferToAgent)
  }
}

function nameOf(step: string): string {
  const at = step.lastIndexOf('@')
  return at < 0 ? step : step.slice(0, at)
}
