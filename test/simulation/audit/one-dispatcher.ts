// P6: every body belongs to a stored call of an agent that has the tool, with the stored arguments.
import type { Evidence } from '../evidence.ts'
import type { AgentSpec } from '../plan.ts'
import { type AuditedCall, type AuditedLog, canonical, decisionIn } from './log.ts'
import type { Violation } from './violation.ts'

export function* oneDispatcher({ ledger, plan }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const toolsOf = new Map(
    [...agentsOf(plan.root)].map((agent) => [agent.name, agent.type === 'llm' ? agent.tools : []]),
  )
  for (const { step, session, tool, key, args, tick } of ledger) {
    if (step !== 'began') continue
    const who = `${session}: ${tool} (${key})`
    const log = logs.find((one) => one.session === session)
    const call = log?.calls.get(key)
    if (!log || !call) yield { promise: 'P6', says: `${who} ran without a call` }
    else if (call.name !== tool) yield { promise: 'P6', says: `${who} ran in place of ${call.name}` }
    else if ((log.stored(call.seq)?.tick ?? Number.POSITIVE_INFINITY) > tick)
      yield { promise: 'P6', says: `${who} ran before its call was stored` }
    else if (!toolsOf.get(call.agent)?.includes(tool))
      yield { promise: 'P6', says: `${who} was called by ${call.agent}, which does not have the tool` }
    else if (!argumentsOf(call).includes(canonical(args)))
      yield { promise: 'P6', says: `${who} ran with ${canonical(args)} and was called with ${canonical(call.args)}` }
  }
}

/** The arguments of the model, and those of an approver in an intent. */
function argumentsOf({ args, intents, asked }: AuditedCall): string[] {
  const edited = asked.flatMap(({ answer }) => (answer ? [decisionIn(answer.response).args] : []))
  return [args, ...intents.map((intent) => intent.args), ...edited].map(canonical)
}

export function* agentsOf(agent: AgentSpec): Iterable<AgentSpec> {
  yield agent
  const below = agent.type === 'llm' ? [...agent.agentTools, ...agent.subAgents] : agent.children
  for (const one of below) yield* agentsOf(one)
}
