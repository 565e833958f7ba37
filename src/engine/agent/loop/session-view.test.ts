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
import { expect, test } from 'vitest'
import type { Entry } from '../../../core/event/event.ts'
import type { Fold } from '../../../core/event/fold.ts'
import type { Agent } from '../agents/agent.ts'
import { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { SessionView } from './session-view.ts'
import { fromCheckpoint, toCheckpoint } from './view-checkpoint.ts'

const look = tool({ name: 'look', description: 'looks', run: () => ({ seen: true }) })
const job = tool({ name: 'job', description: 'takes long', isLongRunning: true, run: () => ({ ticket: 7 }) })
const call = (name: string, args = {}): ScriptedStep => ({ calls: [{ name, args }] })

/**
 * An agent tree with branches, loop rounds, agent tools, a transfer, a failure, a long-running call and several
 * invocations.
 */
function build(): Agent {
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

async function record(): Promise<{ agent: Agent; entries: readonly Entry[] }> {
  const agent = build()
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'app', agent, sessionService, logger: { warn: () => {}, error: () => {} } })
  for (const message of ['one', 'two', 'three', 'four']) await runner.complete({ userId: 'u', sessionId: 's', message })
  const lease = await sessionService.claim({ appName: 'app', userId: 'u', sessionId: 's' })
  return { agent, entries: (await sessionService.read(lease)).entries }
}

test('a session view that is updated entry by entry, or restored, equals a new view at every entry', async () => {
  const { agent, entries } = await record()
  expect(entries.length).toBeGreaterThan(25)
  expect(entries.some(({ record }) => record)).toBe(true)
  const tree = new AgentTree(agent, { plugins: [], resolveModel: () => expect.fail('no names here') })
  const scopes = [
    ...new Map(
      entries.flatMap(({ event }) =>
        event?.nodeInfo ? [[JSON.stringify([event.author, event.isolationScope, event.branch]), event]] : [],
      ),
    ),
  ].map(([, event]) => event)
  const following = new SessionView(tree)
  for (let at = 1; at <= entries.length; at++) {
    const prefix = entries.slice(0, at)
    following.catchUp(prefix)
    const anew = new SessionView(tree)
    anew.catchUp(prefix)
    const restored = restore(anew, tree)
    restored.prepend(prefix.flatMap(({ event }) => (event ? [event] : [])))
    for (const view of [following, restored]) {
      expect(view.seq).toBe(at)
      expect(view.open().map(({ fold, step }) => [fold.invocationId, step.type])).toEqual(
        anew.open().map(({ fold, step }) => [fold.invocationId, step.type]),
      )
      const last = (entries[at - 1]?.event ?? entries[at - 1]?.record)?.invocationId ?? ''
      expect(plain(view.foldOf(last))).toEqual(plain(anew.foldOf(last)))
      for (const event of scopes) {
        if (typeof event === 'string') continue
        const scope = { path: '', isolation: event.isolationScope, branch: event.branch }
        expect(view.history(event.author, scope)).toEqual(anew.history(event.author, scope))
      }
    }
  }
  expect(following.open()).toHaveLength(1) // the long-running call
})

test('a new session view knows the active agent after a transfer', async () => {
  const { agent, entries } = await record()
  const view = new SessionView(new AgentTree(agent, { plugins: [], resolveModel: () => expect.fail('no names here') }))
  view.catchUp(entries)
  expect(view.foldOf('next').start).toBe('clerk')
  expect(agent).toBeInstanceOf(LlmAgent)
})

/** The view of a checkpoint, as a store keeps it. */
function restore(view: SessionView, tree: AgentTree): SessionView {
  const stored = JSON.parse(JSON.stringify(toCheckpoint(view, tree)))
  return fromCheckpoint(tree, stored) ?? expect.fail('the checkpoint was ignored')
}

function plain({ scopes, calls, replies }: Fold): unknown {
  return structuredClone({ scopes: [...scopes.values()], calls: [...calls.values()], replies })
}
