import {
  agentTool,
  background,
  confirm,
  LlmAgent,
  longRunning,
  StaticToolset,
  ToolDispatcher,
  ToolError,
  timeout,
  tool,
} from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const add = tool({
  name: 'add',
  description: 'Adds',
  parameters: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
})

const hang = tool({
  name: 'hang',
  description: 'Waits until it is stopped',
  effect: 'none',
  run: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})

async function failureOf(calling: Promise<unknown>): Promise<ToolError> {
  const error = await calling.then(
    () => undefined,
    (reason) => reason,
  )
  if (error instanceof ToolError) return error
  throw new Error(`no ToolError, but ${error}`)
}

test('resolves with the result of a tool', async () => {
  const dispatcher = new ToolDispatcher().register(add)
  expect(await dispatcher.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
})

test('wraps a result that is not an object, as for a model', async () => {
  const dispatcher = new ToolDispatcher().register(tool({ name: 'n', description: 'N', run: () => 42 }))
  expect(await dispatcher.call('n')).toEqual({ result: 42 })
})

test('throws typed errors with the texts of the tool system', async () => {
  const fails = tool({
    name: 'fails',
    description: 'Fails',
    run: () => {
      throw new Error('no luck')
    },
  })
  const dispatcher = new ToolDispatcher({ timeoutMs: 20 }).register(add, hang, fails)
  const cases = [
    [() => dispatcher.call('ad', {}), 'NOT_FOUND', 'Tool not found: ad'],
    [() => dispatcher.call('add', { a: 'x', b: 1 }), 'INVALID_ARGS', 'Invalid arguments: a: expected number'],
    [() => dispatcher.call('add', 'text'), 'INVALID_ARGS', /^Invalid arguments: /],
    [() => dispatcher.call('hang'), 'TIMEOUT', 'Tool execution timed out after 20ms'],
    [() => dispatcher.call('fails'), 'EXECUTION_FAILED', 'Tool execution failed: no luck'],
  ] as const
  for (const [call, code, text] of cases) {
    const error = await failureOf(call())
    expect(error.code).toBe(code)
    expect(error.message).toMatch(text)
  }
})

test('a tool may have a longer timeout than the default, and a call a longer one than the tool', async () => {
  const slow = tool({
    name: 'slow',
    description: 'Takes 60 ms',
    run: () => new Promise((resolve) => setTimeout(() => resolve({ done: true }), 60)),
  })
  const dispatcher = new ToolDispatcher({ timeoutMs: 20 }).register(timeout(slow, 5_000))
  expect(await dispatcher.call('slow')).toEqual({ done: true })
  const strict = new ToolDispatcher({ timeoutMs: 20 }).register(slow)
  expect((await failureOf(strict.call('slow'))).code).toBe('TIMEOUT')
  expect(await strict.call('slow', {}, { timeoutMs: 5_000 })).toEqual({ done: true })
})

test('a signal cancels the call, also before it starts', async () => {
  const dispatcher = new ToolDispatcher().register(hang)
  const controller = new AbortController()
  const calling = failureOf(dispatcher.call('hang', {}, { signal: controller.signal }))
  setImmediate(() => controller.abort())
  expect(await calling).toMatchObject({ code: 'CANCELLED' })
  const error = await failureOf(dispatcher.call('hang', {}, { signal: controller.signal }))
  expect(error.message).toBe('Tool cancelled')
})

test('a call without a provider to confirm it is refused', async () => {
  const error = await failureOf(new ToolDispatcher().register(confirm(add, 'Add?')).call('add', { a: 1, b: 2 }))
  expect(error).toMatchObject({ code: 'CANCELLED' })
  expect(error.message).toMatch(/confirmationProvider/)
})

test('a provider approves, denies with a hint or a reason, and fails closed', async () => {
  const asked: unknown[] = []
  const provider = (decision: () => { confirmed: boolean; hint?: string; reason?: string }) => ({
    confirmationProvider: async (request: { tool: string; args: unknown; hint?: string | undefined }) => {
      asked.push([request.tool, request.args, request.hint])
      return decision()
    },
  })
  const gated = confirm(add, 'Add?')
  const approving = new ToolDispatcher(provider(() => ({ confirmed: true }))).register(gated)
  expect(await approving.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
  expect(asked).toEqual([['add', { a: 1, b: 2 }, 'Add?']])
  const denying = new ToolDispatcher(provider(() => ({ confirmed: false, hint: 'not today' }))).register(gated)
  expect((await failureOf(denying.call('add', { a: 1, b: 2 }))).message).toMatch(/not today/)
  const explained = new ToolDispatcher(provider(() => ({ confirmed: false, reason: 'ask Ada' }))).register(gated)
  expect((await failureOf(explained.call('add', { a: 1, b: 2 }))).message).toMatch(/ask Ada/)
  const broken = new ToolDispatcher(
    provider(() => {
      throw new Error('offline')
    }),
  ).register(gated)
  expect((await failureOf(broken.call('add', { a: 1, b: 2 }))).code).toBe('CANCELLED')
})

test('allowUnconfirmed runs a gated call without a provider', async () => {
  const dispatcher = new ToolDispatcher({ allowUnconfirmed: true }).register(confirm(add, 'Add?'))
  expect(await dispatcher.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
})

test('the time a person takes does not count against the timeout', async () => {
  const dispatcher = new ToolDispatcher({
    timeoutMs: 30,
    confirmationProvider: () => new Promise((resolve) => setTimeout(() => resolve({ confirmed: true }), 120)),
  }).register(confirm(add, 'Add?'))
  expect(await dispatcher.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
})

test('streaming tools return their yields and report progress', async () => {
  const steps = tool({
    name: 'steps',
    description: 'Counts',
    run: async function* () {
      for (let step = 0; step < 3; step++) yield { step }
    },
  })
  const seen: unknown[] = []
  const dispatcher = new ToolDispatcher().register(steps)
  const result = await dispatcher.call('steps', {}, { onProgress: (value) => seen.push(value) })
  expect(result).toEqual({ results: [{ step: 0 }, { step: 1 }, { step: 2 }] })
  expect(seen).toEqual([{ step: 0 }, { step: 1 }, { step: 2 }])
})

test('a call reads the given state and writes into it', async () => {
  const visit = tool({
    name: 'visit',
    description: 'Counts visits',
    run: (_, { state }) => {
      state.set('visits', state.get('visits', 0) + 1)
      state.delete('old')
      return { visits: state.get('visits') }
    },
  })
  const dispatcher = new ToolDispatcher().register(visit)
  const state = { visits: 4, old: true }
  expect(await dispatcher.call('visit', {}, { state })).toEqual({ visits: 5 })
  expect(state).toEqual({ visits: 5 })
})

test('agent tools use the given model, share the state and have the default timeout', async () => {
  const note = tool({
    name: 'note',
    description: 'Notes',
    run: (_, { state }) => {
      state.set('noted', state.get('topic'))
      return {}
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'note' }] }, 'Noted.'])
  const agent = new LlmAgent({ name: 'clerk', tools: [note] })
  const dispatcher = new ToolDispatcher({ model }).register(agentTool(agent))
  const state = { topic: 'rent' }
  expect(await dispatcher.call('clerk', { request: 'Note it.' }, { state })).toEqual({ text: 'Noted.' })
  expect(state).toEqual({ topic: 'rent', noted: 'rent' })
  const stuck = new LlmAgent({ name: 'stuck', model: scriptedModel([{ text: 'late', delayMs: 60_000 }]) })
  const strict = new ToolDispatcher({ timeoutMs: 30 }).register(agentTool(stuck))
  expect((await failureOf(strict.call('stuck', { request: 'Go.' }))).code).toBe('TIMEOUT')
})

test('background and long-running tools return what they return', async () => {
  const ticket = tool({ name: 'ticket', description: 'Opens a ticket', run: () => ({ ticket: 7 }) })
  const dispatcher = new ToolDispatcher().register(background(add), longRunning(ticket))
  expect(await dispatcher.call('add', { a: 2, b: 2 })).toEqual({ sum: 4 })
  expect(await dispatcher.call('ticket')).toEqual({ ticket: 7 })
})

test('is a toolset: an agent uses the same tools, also those registered later', async () => {
  const dispatcher = new ToolDispatcher().register(new StaticToolset([add], { name: 'maths' }))
  expect(await dispatcher.call('add', { a: 1, b: 1 })).toEqual({ sum: 2 })
  dispatcher.register(hang)
  const context = {} as Parameters<typeof dispatcher.listTools>[0]
  expect((await dispatcher.listTools(context)).map(({ name }) => name)).toEqual(['hang', 'add'])
  const outer = new ToolDispatcher().register(dispatcher)
  expect(await outer.call('add', { a: 1, b: 2 })).toEqual({ sum: 3 })
})

test('refuses a second tool of the same name, and what is no tool', () => {
  const dispatcher = new ToolDispatcher().register(add)
  expect(() => dispatcher.register(add)).toThrow(/registered twice/)
  expect(() => dispatcher.register({ name: 'x' } as never)).toThrow(/takes tools and toolsets/)
  expect(() => dispatcher.register(() => 1)).toThrow(/types were not read/)
  expect(() => new ToolDispatcher({ timeout: 5 } as never)).toThrow(/timeoutMs/)
})

test('1,000 calls leave no session behind', async () => {
  const dispatcher = new ToolDispatcher().register(add)
  await Promise.all(Array.from({ length: 1_000 }, (_, a) => dispatcher.call('add', { a, b: 1 })))
  await dispatcher.shutdown()
})

test('refuses calls after shutdown(), with other deadlines too', async () => {
  const dispatcher = new ToolDispatcher().register(add)
  await dispatcher.call('add', { a: 1, b: 2 })
  await dispatcher.shutdown()
  const problem = 'The ToolDispatcher is shut down. Create a new ToolDispatcher.'
  await expect(dispatcher.call('add', { a: 1, b: 2 })).rejects.toThrow(problem)
  await expect(dispatcher.call('add', { a: 1, b: 2 }, { timeoutMs: 5_000 })).rejects.toThrow(problem)
})

test('says where to set the model of an agent tool that has none', async () => {
  const dispatcher = new ToolDispatcher().register(agentTool(new LlmAgent({ name: 'ask', description: 'Ask' })))
  await expect(dispatcher.call('ask', { request: 'x' })).rejects.toThrow('pass `model` to new ToolDispatcher()')
  await dispatcher.shutdown()
})
