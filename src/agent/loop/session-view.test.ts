import { expect, test } from 'vitest'
import type { Fold } from '../../event/fold.ts'
import { AgentTree } from '../agents/agent-tree.ts'
import { LlmAgent } from '../agents/llm-agent.ts'
import { record } from './session-view.test-kit.ts'
import { SessionView } from './session-view.ts'

test('a session view that is updated entry by entry equals a new view at every entry', async () => {
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
    expect(following.seq).toBe(at)
    expect(following.open().map(({ fold, step }) => [fold.invocationId, step.type])).toEqual(
      anew.open().map(({ fold, step }) => [fold.invocationId, step.type]),
    )
    const last = (entries[at - 1]?.event ?? entries[at - 1]?.record)?.invocationId ?? ''
    expect(plain(following.foldOf(last))).toEqual(plain(anew.foldOf(last)))
    for (const event of scopes) {
      if (typeof event === 'string') continue
      const scope = { path: '', isolation: event.isolationScope, branch: event.branch }
      expect(following.history(event.author, scope)).toEqual(anew.history(event.author, scope))
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

function plain({ scopes, calls, replies }: Fold): unknown {
  return structuredClone({ scopes: [...scopes.values()], calls: [...calls.values()], replies })
}
