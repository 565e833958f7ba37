// A conversation that is continued by another process at each message, and all that a model and a client see of it.
import type { Content, Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { SessionService } from '../../../services/session/service.ts'
import { agentTool } from '../../agent/agents/agent-tool.ts'
import { LlmAgent } from '../../agent/agents/llm-agent.ts'
import type { HistoryOptions } from '../../agent/agents/llm-agent-options.ts'
import type { Model } from '../../model/model.ts'
import { longRunning } from '../../policy/long-running.ts'
import { tool } from '../../tool/define-tool.ts'
import { approve, respond } from '../approvals/answer-parts.ts'
import { Runner } from '../runner.ts'

type Step = (contents: readonly Content[]) => Part[]

const call = (id: string, name: string, args = {}): Part[] => [{ functionCall: { id, name, args } }]

/** What the models reply to a text of the user. Each later reply says that all is done. */
const STEPS: { readonly [text: string]: Step } = {
  job: () => call('job-1', 'job'),
  helper: () => call('helper-1', 'helper', { request: 'refund' }),
  refund: () => call('refund-1', 'refund', { n: 5 }),
  clerk: () => call('transfer-1', 'transfer_to_agent', { agent_name: 'clerk' }),
  look: () => [...call('look-1', 'look'), ...call('job-2', 'job')],
}

/** A model that notes what it sees. */
function modelFor(seen: unknown[]): Model {
  return {
    name: 'desk',
    async *generate({ contents }) {
      seen.push(structuredClone(contents))
      const text = contents.at(-1)?.parts.at(-1)?.text ?? ''
      const parts = STEPS[text]?.(contents) ?? [{ text: `Done after ${contents.length} contents.` }]
      yield { content: { role: 'model', parts } }
    },
  }
}

/** The agents: tools that look, wait for a result or an approval, an agent tool, and a second agent. */
export function deskWith(history: HistoryOptions | undefined, seen: unknown[]): LlmAgent {
  const model = modelFor(seen)
  const look = tool({ name: 'look', description: 'Looks', effect: 'none', run: () => ({ seen: true }) })
  const job = longRunning(tool({ name: 'job', description: 'Takes long', run: () => ({ ticket: 7 }) }))
  const refund = tool({ name: 'refund', description: 'Refunds', requiresConfirmation: true, run: () => ({ paid: 5 }) })
  const helper = new LlmAgent({ name: 'helper', model, tools: [refund], history })
  const clerk = new LlmAgent({ name: 'clerk', model, tools: [look, job], history })
  const tools = [look, job, refund, agentTool(helper)]
  return new LlmAgent({ name: 'desk', model, tools, subAgents: [clerk], history })
}

/** Starts a process for each message. Returns what clients see: texts, pending requests, and the kinds of events. */
export async function converse(agent: LlmAgent, sessionService: SessionService): Promise<unknown[]> {
  const where = { userId: 'ada', sessionId: 's1' }
  const shown: unknown[] = []
  const send = async (message: string | Part[]): Promise<readonly PendingRequest[]> => {
    const runner = new Runner({ appName: 'shop', agent, sessionService })
    const { text, events, pending } = await runner.complete({ ...where, message })
    shown.push([text, pending.map(({ tool }) => tool), events.map(({ author, content }) => [author, content?.role])])
    return pending
  }
  await send('Hello.')
  const [job] = await send('job')
  await send('Two.')
  const [refund] = await send('helper')
  const approval = [approve(refund as PendingRequest)]
  await send(approval)
  await send('clerk')
  await send('Six.')
  const [other] = await send('look')
  await send('Eight.')
  await send(approval) // a repeated answer of an earlier turn
  const result = [respond(job as PendingRequest, { done: 1 })]
  await send(result)
  await send('Nine.')
  await send(result)
  await send([respond(other as PendingRequest, { done: 2 })])
  await send('Ten.')
  return shown
}
