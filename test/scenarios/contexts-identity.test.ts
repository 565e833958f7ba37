import { type Invocation, LlmAgent, ParallelAgent, Runner, type ToolContext, tool } from 'toolwright'
import { createToolContext, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { plainTool, progressOf, runScenario } from './kit.ts'

test('a body reads the user, the session, the invocation and the call from its context', async () => {
  let seen: { invocation: Invocation; context: ToolContext } | undefined
  const look = plainTool('look', (_, context) => {
    seen = { invocation: context.invocation, context }
    return context.invocation.session.events.length
  })
  const result = await runScenario({ tools: [look], calls: [{ name: 'look', id: 'c1' }], stateDelta: { a: 1 } })
  const { invocation, context } = seen as NonNullable<typeof seen>
  expect(invocation).toMatchObject({ appName: 'app', userId: 'ada', agentName: 'agent', branch: undefined })
  expect(invocation.invocationId).toBe(result.invocationId)
  expect(invocation.session).toMatchObject({ id: result.sessionId, appName: 'app', userId: 'ada', state: { a: 1 } })
  expect(invocation.userContent).toEqual({ role: 'user', parts: [{ text: 'go' }] })
  expect(invocation.runConfig).toMatchObject({})
  expect(invocation.services).toEqual({})
  expect(context.tool).toEqual({ name: 'look', description: 'look' })
  expect(context.functionCallId).toBe('c1')
  expect(context.idempotencyKey).toBe(`${result.invocationId}/c1`)
  expect(context.signal.aborted).toBe(false)
  expect(context.toolConfirmation).toBeUndefined()
  expect(context.authCredential).toBeUndefined()
  expect(result.response).toEqual({ result: 2 })
})

test('equal calls have different idempotency keys and separate contexts', async () => {
  const keys: string[] = []
  const contexts = new Set<unknown>()
  const charge = plainTool('charge', (_, context) => {
    keys.push(context.idempotencyKey)
    contexts.add(context)
  })
  const call = { name: 'charge', args: { amount: 5 } }
  const { invocationId } = await runScenario({
    tools: [charge],
    steps: [{ calls: [call, call] }, { calls: [call] }, 'done'],
  })
  expect(new Set(keys).size).toBe(3)
  expect(contexts.size).toBe(3)
  for (const key of keys) expect(key.split('/')).toEqual([invocationId, expect.stringMatching(/^adk-/)])
})

test('a body inside a ParallelAgent reads its branch from its context', async () => {
  const branches: unknown[] = []
  const look = plainTool('look', (_, { invocation }) => branches.push([invocation.agentName, invocation.branch]))
  const child = (name: string): LlmAgent =>
    new LlmAgent({ name, model: scriptedModel([{ calls: [{ name: 'look' }] }, 'ok']), tools: [look] })
  const agent = new ParallelAgent({ name: 'both', subAgents: [child('left'), child('right')] })
  await new Runner({ appName: 'app', agent }).complete({ userId: 'ada', message: 'go' })
  expect(branches.sort()).toEqual([
    ['left', 'both.left'],
    ['right', 'both.right'],
  ])
})

test('progress is yielded as partial events, and is neither stored nor shown to the model', async () => {
  const work = plainTool('work', (_, context) => {
    context.progress({ percent: 50 })
    return 'ok'
  })
  const { events, model, runner, sessionId } = await runScenario({ tools: [work], calls: [{ name: 'work', id: 'c1' }] })
  expect(events.map((event) => [event.content?.role, event.partial ?? false])).toEqual([
    ['model', false],
    ['tool', true],
    ['tool', false],
    ['model', false],
  ])
  expect(progressOf(events)).toEqual([
    { id: 'c1', name: 'work', response: { progress: { percent: 50 } }, willContinue: true },
  ])
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  expect(JSON.stringify([session, model.requests[1]?.contents])).not.toContain('percent')
})

test('progress reported after the response is ignored', async () => {
  let late: ToolContext | undefined
  const tools = [
    plainTool('work', (_, context) => {
      late = context
    }),
    plainTool('after', () => late?.progress('too late')),
  ]
  const { events } = await runScenario({
    tools,
    steps: [{ calls: [{ name: 'work' }] }, { calls: [{ name: 'after' }] }, 'ok'],
  })
  expect(progressOf(events)).toEqual([])
})

test('createToolContext() runs a body without a runner', async () => {
  const remember = tool({
    name: 'remember',
    description: 'Remember a city',
    parameters: z.object({ city: z.string() }),
    run: async ({ city }, context) => {
      context.progress('writing')
      context.state.set('city', city)
      context.state.delete('old')
      return context.state.get('city')
    },
  })
  const context = createToolContext({ state: { old: 1 } })
  expect(await remember.run({ city: 'Oslo' }, context)).toBe('Oslo')
  expect(context.stateDelta).toEqual({ city: 'Oslo', old: null })
  expect(context.progressed).toEqual(['writing'])
})
