import {
  agentTool,
  InMemorySessionService,
  LlmAgent as Llm,
  LoopAgent,
  ParallelAgent,
  Runner,
  SequentialAgent,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import type { Entry } from '../../event/event.ts'
import type { Agent } from '../agents/agent.ts'

const look = tool({ name: 'look', description: 'looks', run: () => ({ seen: true }) })
const job = tool({ name: 'job', description: 'takes long', isLongRunning: true, run: () => ({ ticket: 7 }) })
const call = (name: string, args = {}): ScriptedStep => ({ calls: [{ name, args }] })

/**
 * An agent tree with branches, loop rounds, agent tools, a transfer, a failure, a long-running call and several
 * invocations.
 */
export function build(): Agent {
  const inner = new Llm({ name: 'inner', model: scriptedModel([call('look'), 'in']), tools: [look] })
  const clerk = new Llm({ name: 'clerk', model: scriptedModel(['hello', call('job'), 'bye']), tools: [job] })
  const beside = new ParallelAgent({
    name: 'beside',
    subAgents: [
      new Llm({ name: 'left', model: scriptedModel([call('look'), 'l']), tools: [look] }),
      new Llm({ name: 'right', model: scriptedModel([]) }),
    ],
  })
  const again = new LoopAgent({
    name: 'again',
    maxIterations: 2,
    subAgents: [new Llm({ name: 'round', model: scriptedModel(['1', '2']) })],
  })
  const flow = new SequentialAgent({ name: 'flow', subAgents: [beside, again] })
  return new Llm({
    name: 'root',
    model: scriptedModel([
      call('inner', { request: 'a' }),
      'first',
      call('transfer_to_agent', { agent_name: 'flow' }),
      call('transfer_to_agent', { agent_name: 'clerk' }),
    ]),
    tools: [agentTool(inner)],
    subAgents: [clerk, flow],
  })
}

/** A log of these agents. */
export async function record(): Promise<{ agent: Agent; entries: readonly Entry[] }> {
  const agent = build()
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'app', agent, sessionService, logger: { warn: () => {}, error: () => {} } })
  for (const message of ['one', 'two', 'three', 'four']) await runner.complete({ userId: 'u', sessionId: 's', message })
  const lease = await sessionService.claim({ appName: 'app', userId: 'u', sessionId: 's' })
  return { agent, entries: (await sessionService.read(lease)).entries }
}
