// Records the tours of the examples and replays them: no model, no tool, and the same log.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { InMemoryArtifactService, InMemorySessionService, Runner } from 'toolwright'
import { type EvalTarget, recordCase, runEvals } from 'toolwright/eval'
import { expect, test } from 'vitest'

const examples = ['pipeline', 'policies', 'team', 'weather', 'shop/agent']

test.each(examples)('the tour of example %s replays without a difference', async (name) => {
  const module = await import(pathToFileURL(resolve(`examples/${name}.ts`)).href)
  const root: EvalTarget = module.default ?? module.rootAgent
  const agent = root instanceof Runner ? root.agent : root
  const messages: readonly string[] = module.tour ?? ['Hello']
  const sessionService = new InMemorySessionService()
  const artifactService = new InMemoryArtifactService()
  const runner = new Runner({ appName: 'tour', agent, sessionService, artifactService })
  for (const message of messages) await runner.complete({ userId: 'ada', sessionId: 's1', message })
  const key = { appName: 'tour', userId: 'ada', sessionId: 's1' }
  const { entries } = (await sessionService.readLog(key)) ?? { entries: [] }
  const session = await sessionService.getSession(key)
  const made = await recordCase({ key, entries, state: { ...session?.state } }, { target: agent, id: name })
  const { cases } = await runEvals({ sets: [{ id: 'tours', cases: [made] }], target: agent, mode: 'replay' })
  expect(cases[0]?.trials[0]?.checks[0]).toEqual({ name: 'replay', status: 'PASSED' })
})
