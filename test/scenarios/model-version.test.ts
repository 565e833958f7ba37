// Each reply in a log names the model that gave it.
import {
  fallback,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  type Model,
  Runner,
  readLog,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'

const named = (name: string, step: ScriptedStep): Model => scriptedModel([step], { name })

async function modelsOf(model: Model, options: Partial<LlmAgentOptions> = {}) {
  const sessionService = new InMemorySessionService()
  const agent = new LlmAgent({ name: 'desk', model, ...options })
  const runner = new Runner({ appName: 'shop', agent, sessionService })
  const key = { userId: 'ada', sessionId: 's1' }
  const { events } = await runner.complete({ ...key, message: 'Go.' })
  const { entries } = (await sessionService.readLog({ appName: 'shop', ...key })) ?? { entries: [] }
  const views = readLog(entries).invocations()
  expect(views.flatMap(({ replies }) => replies.map((reply) => reply.model))).toEqual([events.at(-1)?.modelVersion])
  return events.at(-1)?.modelVersion
}

const broken = named('broken', () => {
  throw Object.assign(new Error('Down.'), { isRetryable: true })
})

test('a reply names its model, or the version that the provider reports', async () => {
  expect(await modelsOf(named('plain', 'One.'))).toBe('plain')
  const versioned = named('plain', { text: 'One.', response: { modelVersion: 'plain-001' } })
  expect(await modelsOf(versioned)).toBe('plain-001')
})

test('a reply of a fallback() chain names the model of the chain that replied', async () => {
  expect(await modelsOf(fallback([named('first', 'One.'), broken]))).toBe('first')
  expect(await modelsOf(fallback([broken, named('second', 'One.')]))).toBe('second')
})

test('a reply of a callback names no model, and a changed reply still names its own', async () => {
  const content = { role: 'model', parts: [{ text: 'Mine.' }] } as const
  expect(await modelsOf(named('plain', 'One.'), { beforeModel: () => ({ content }) })).toBeUndefined()
  expect(await modelsOf(named('plain', 'One.'), { afterModel: () => ({ content }) })).toBe('plain')
})
