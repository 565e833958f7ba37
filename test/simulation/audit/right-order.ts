// P7: workflow agents run the right child: one after another, never back, nothing after the last word of a scope.
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
    // responses that were written together with the end of their invocation say nothing about who went on
    const events = evidence.entries.flatMap(({ event, seq }) =>
      event && !(event.content?.role === 'tool' && ends.includes(log.stored(seq)?.tick)) ? [event] : [],
    )
    for (const [invocationId, own] of Map.groupBy(events, (event) => event.invocationId)) {
      const until = own.filter((event) => !isEnd(event))
      for (const problem of [...turns(until, workflows), ...lastWords(until), ...speakers(until, plan.root)])
        yield { promise: 'P7', says: `${session}: invocation ${invocationId}: ${problem}` }
    }
  }
}

function isEnd(event: Event | undefined): boolean {
  return event?.errorCode === 'CANCELLED' || event?.errorCode === 'AGENT_ERROR'
}

/** In a sequence or a loop nothing happens in a child once a later one has begun, and none begins when it is left. */
function* turns(events: readonly Event[], workflows: ReadonlyMap<string, WorkflowSpec>): Iterable<string> {
  const latest = new Map<string, number>()
  const left = new Set<string>()
  /** Those of them that were left because a child failed: another attempt of their agent tool goes on with them. */
  const failed = new Set<string>()
  for (const event of events) {
    const { isolationScope, content, errorCode } = event
    if (isolationScope !== undefined && content?.role === 'user')
      for (const path of failed) if (path === isolationScope || path.startsWith(`${isolationScope}/`)) left.delete(path)
    const steps = event.nodeInfo?.path.split('/') ?? []
    for (let depth = 0; depth + 1 < steps.length; depth++) {
      const workflow = workflows.get(nameOf(steps[depth] ?? ''))
      const step = steps[depth + 1] ?? ''
      if (!workflow || workflow.type === 'parallel') continue
      const child = workflow.children.findIndex(({ name }) => name === nameOf(step))
      if (child < 0) continue // transferred to
      const place = (Number(step.slice(step.lastIndexOf('@') + 1)) - 1) * workflow.children.length + child
      const above = steps.slice(0, depth + 1).join('/')
      const before = latest.get(above) ?? -1
      if (place < before) yield `${step} goes on in ${above} after a later child has begun`
      if (place > before + 1) yield `${step} begins in ${above} before its turn`
      if (place > before && left.has(above)) yield `${step} begins in ${above} after that was left`
      latest.set(above, Math.max(place, before))
    }
    for (const above of leftBy(event, steps, workflows)) {
      left.add(above)
      if (errorCode !== undefined) failed.add(above)
    }
  }
}

/** Workflows that are over with this event: up to the nearest loop when it escalates, the one it is in when it fails. */
function leftBy({ actions, errorCode }: Event, steps: readonly string[], workflows: ReadonlyMap<string, WorkflowSpec>) {
  const left: string[] = []
  for (let depth = steps.length - 2; depth >= 0; depth--) {
    const workflow = workflows.get(nameOf(steps[depth] ?? ''))
    const isChild = workflow?.children.some(({ name }) => name === nameOf(steps[depth + 1] ?? ''))
    if (!workflow || !isChild || (!actions.escalate && errorCode === undefined)) break
    if (workflow.type !== 'parallel') left.push(steps.slice(0, depth + 1).join('/'))
    if (workflow.type === 'loop' || !actions.escalate) break
  }
  return left
}

/** A model that has answered is not asked again in its scope, unless control came from elsewhere. */
function* lastWords(events: readonly Event[]): Iterable<string> {
  const spoken = new Set<string>()
  for (const { nodeInfo, content, actions, author, longRunningToolIds, errorCode } of events) {
    const path = nodeInfo?.path
    if (path === undefined || author === 'user') continue
    if (spoken.has(path) && (content || errorCode)) yield `something happens in ${path} after its last word`
    if (content?.role !== 'model' || longRunningToolIds || actions.skipSummarization) continue
    if (content.parts.every((part) => part.text !== undefined)) spoken.add(path)
  }
}

/** Who speaks in a scope is who it was opened for, or who control was handed to. */
function* speakers(events: readonly Event[], root: AgentSpec): Iterable<string> {
  const inCharge = new Map<string, string>()
  for (const { nodeInfo, content, actions, author } of events) {
    const path = nodeInfo?.path
    if (path === undefined || author === 'user') continue
    const scope = path.split('/').at(-1) ?? ''
    if (content?.role === 'model' && path !== root.name && !/^call@/.test(scope)) {
      const expected = inCharge.get(path) ?? nameOf(scope)
      if (author !== expected) yield `${author} speaks in ${path} where ${expected} is in charge`
    }
    if (actions.transferToAgent !== undefined) inCharge.set(path, actions.transferToAgent)
  }
}

function nameOf(step: string): string {
  const at = step.lastIndexOf('@')
  return at < 0 ? step : step.slice(0, at)
}
