import { agentTool, approve, deny, LlmAgent, StaticToolset, tool, toolSource, withParts } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { ToolSource } from '../../tool/tool-source.ts'
import { CallRunner, type CallRunnerOptions } from './call-runner.ts'

const silent = { warn: () => {}, error: () => {} }
const ada = { userId: 'ada' }

function callRunner(tools: readonly ToolSource[], options: Partial<CallRunnerOptions> = {}): CallRunner {
  return new CallRunner({ appName: 'app', agentName: 'caller', tools, logger: silent, ...options })
}

const add = tool({
  name: 'add',
  description: 'Adds',
  parameters: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }, context) => {
    context.progress({ progress: 1 })
    return { sum: a + b }
  },
})

let charged: number[] = []
const charge = tool({
  name: 'charge',
  description: 'Charges',
  parameters: z.object({ amount: z.number() }),
  requiresConfirmation: true,
  run: ({ amount }) => {
    charged.push(amount)
    return { charged: amount }
  },
})

test('a call returns the response of the tool, and its progress while it runs', async () => {
  const progress: unknown[] = []
  const call = { name: 'add', args: { a: 1, b: 2 } }
  const outcome = await callRunner([add]).run(call, { ...ada, onProgress: (value) => progress.push(value) })
  expect(outcome).toMatchObject({ type: 'result', result: { response: { sum: 3 }, parts: [] } })
  expect(progress).toEqual([{ progress: 1 }])
})

test('a failed call is a result with an error', async () => {
  const outcome = await callRunner([add]).run({ name: 'add', args: { a: '1' } }, ada)
  expect(outcome).toMatchObject({ type: 'result', result: { response: { errorCode: 'INVALID_ARGS' } } })
})

test('media parts of a result are returned', async () => {
  const data = 'AAAA'
  const draw = tool({
    name: 'draw',
    description: 'Draws',
    run: () => withParts({ ok: true }, [{ inlineData: { mimeType: 'image/png', data } }]),
  })
  const outcome = await callRunner([draw]).run({ name: 'draw', args: {} }, ada)
  expect(outcome).toMatchObject({
    result: { response: { ok: true }, parts: [{ inlineData: { mimeType: 'image/png', data } }] },
  })
})

test('a gated call is pending until it is approved, also in another process', async () => {
  charged = []
  const sessionService = new InMemorySessionService()
  const outcome = await callRunner([charge], { sessionService }).run({ name: 'charge', args: { amount: 5 } }, ada)
  if (outcome.type !== 'pending') throw new Error(outcome.type)
  expect(outcome.requests).toMatchObject([{ kind: 'confirmation', tool: 'charge', args: { amount: 5 } }])
  expect(charged).toEqual([])
  const { sessionId, requests } = outcome
  const other = callRunner([charge], { sessionService })
  const answered = await other.answer(
    requests.map((request) => approve(request)),
    { ...ada, sessionId },
  )
  expect(answered).toMatchObject({ type: 'result', result: { response: { charged: 5 } } })
  expect(charged).toEqual([5])
  expect(await other.read({ ...ada, sessionId })).toMatchObject({ type: 'result' })
})

test('a denied call never runs', async () => {
  charged = []
  const calls = callRunner([charge])
  const outcome = await calls.run({ name: 'charge', args: { amount: 5 } }, ada)
  if (outcome.type !== 'pending') throw new Error(outcome.type)
  const { sessionId, requests } = outcome
  const answered = await calls.answer(
    requests.map((request) => deny(request)),
    { ...ada, sessionId },
  )
  expect(answered).toMatchObject({ type: 'result', result: { response: { errorCode: 'CANCELLED' } } })
  expect(charged).toEqual([])
})

test('a pending call can be cancelled', async () => {
  const calls = callRunner([charge])
  const outcome = await calls.run({ name: 'charge', args: { amount: 5 } }, ada)
  await calls.cancel({ ...ada, sessionId: outcome.sessionId })
  expect(await calls.runner.pending(ada)).toEqual([])
})

test('long-running work returns its handle and stays pending', async () => {
  const start = tool({ name: 'start', description: 'Starts', isLongRunning: true, run: () => ({ ticket: 7 }) })
  const calls = callRunner([start])
  const outcome = await calls.run({ name: 'start', args: {} }, ada)
  expect(outcome).toMatchObject({ type: 'pending', handle: { response: { ticket: 7 } } })
})

test('aborting the signal aborts the body', async () => {
  const controller = new AbortController()
  let aborted = false
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    run: async (_, { signal }) => {
      controller.abort()
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve())
      })
      aborted = signal.aborted
    },
  })
  const { signal } = controller
  const outcome = await callRunner([wait]).run({ name: 'wait', args: {} }, { ...ada, signal })
  expect(aborted).toBe(true)
  expect(outcome.type === 'result' ? outcome.result.response.errorCode : outcome.type).toMatch(/UNKNOWN_OUTCOME|ended/)
})

test('an agent is called with a request, and asks through the same call', async () => {
  charged = []
  const model = scriptedModel([{ calls: [{ name: 'charge', args: { amount: 3 } }] }, 'Charged 3.'])
  const calls = callRunner([agentTool(new LlmAgent({ name: 'desk', model, tools: [charge] }))])
  const outcome = await calls.run({ name: 'desk', args: { request: 'Charge 3.' } }, ada)
  if (outcome.type !== 'pending') throw new Error(outcome.type)
  const { sessionId, requests } = outcome
  const answered = await calls.answer(
    requests.map((request) => approve(request)),
    { ...ada, sessionId },
  )
  expect(answered).toMatchObject({ type: 'result', result: { response: { text: 'Charged 3.' } } })
  expect(charged).toEqual([3])
})

test('tools are listed for each user, without a session that stays', async () => {
  const sessionService = new InMemorySessionService()
  const source = toolSource(({ invocation }) => (invocation.userId === 'ada' ? [charge] : []), { name: 'admins' })
  const calls = callRunner([source, new StaticToolset([add])], { sessionService })
  expect([...(await calls.list(ada)).keys()].sort()).toEqual(['add', 'charge'])
  expect([...(await calls.list({ userId: 'bob' })).keys()]).toEqual(['add'])
  expect(await sessionService.listSessions({ appName: 'app', userId: 'ada' })).toEqual([])
  const refused = await calls.run({ name: 'charge', args: { amount: 1 } }, { userId: 'bob' })
  expect(refused).toMatchObject({ type: 'result', result: { response: { errorCode: 'NOT_FOUND' } } })
})

test('concurrent calls of many users do not mix', async () => {
  const calls = callRunner([add])
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, a) => calls.run({ name: 'add', args: { a, b: 1 } }, { userId: `u${a}` })),
  )
  expect(all.map((one) => one.type === 'result' && one.result.response.sum)).toEqual(
    Array.from({ length: 50 }, (_, a) => a + 1),
  )
})
