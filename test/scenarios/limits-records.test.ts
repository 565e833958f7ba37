// Size limits of everything that is recorded, with a test below each limit.
import {
  approve,
  type CodeExecutor,
  createEvent,
  InMemoryArtifactService,
  LlmAgent,
  type LlmAgentOptions,
  type Part,
  Runner,
  respond,
  type Tool,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { requestFor, sendMessage, startProcess, stores, where } from './approvals-kit.ts'
import { plainTool, runScenario, type Scenario, type ScenarioResult, silentLogger } from './kit.ts'

const LARGE = 'x'.repeat(2_000_000)

async function storedSize({ runner, sessionId }: Pick<ScenarioResult, 'runner' | 'sessionId'>): Promise<number> {
  const session = await runner.sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
  return JSON.stringify(session).length
}

const callOf = (name: string, args: object): Scenario => ({ calls: [{ id: 'c1', name, args: { ...args } }] })

describe('arguments of a model call', () => {
  test('over maxArgsBytes are rejected and neither recorded nor sent back', async () => {
    const body = vi.fn(() => 'ok')
    const result = await runScenario({ tools: [plainTool('write', body)], ...callOf('write', { text: LARGE }) })
    expect(result.response).toMatchObject({
      errorCode: 'INVALID_ARGS',
      error: expect.stringContaining('at most 256000'),
    })
    expect(body).not.toHaveBeenCalled()
    expect(result.text).toBe('done')
    expect(await storedSize(result)).toBeLessThan(10_000)
    expect(JSON.stringify(result.model.requests[1]?.contents).length).toBeLessThan(10_000)
    expect(result.events[0]?.content?.parts[0]?.functionCall?.args).toEqual({ truncatedArgsBytes: expect.any(Number) })
  })

  test('within maxArgsBytes reach the body unchanged', async () => {
    const body = vi.fn((args: unknown) => Object(args).text.length)
    const result = await runScenario({
      tools: [plainTool('write', body)],
      ...callOf('write', { text: 'x'.repeat(255_000) }),
    })
    expect(result.response).toEqual({ result: 255_000 })
  })

  test('are limited by maxArgsBytes of the runner', async () => {
    const body = vi.fn(() => 'ok')
    const story = { tools: [plainTool('write', body)], ...callOf('write', { text: LARGE }) }
    expect((await runScenario({ ...story, runner: { maxArgsBytes: 3_000_000 } })).response).toEqual({ result: 'ok' })
    const small = { tools: [plainTool('write', body)], ...callOf('write', { text: 'x'.repeat(200) }) }
    expect((await runScenario({ ...small, runner: { maxArgsBytes: 100 } })).response).toMatchObject({
      errorCode: 'INVALID_ARGS',
    })
  })

  test('that repeat one object 2^60 times are rejected', async () => {
    let value: object = {}
    for (let i = 0; i < 60; i++) value = [value, value]
    const result = await runScenario({ tools: [plainTool('write', () => 'ok')], ...callOf('write', { value }) })
    expect(result.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  })

  test('that beforeTool makes too large are rejected', async () => {
    const body = vi.fn(() => 'ok')
    const agent = { beforeTool: () => ({ args: { text: LARGE } }) }
    const result = await runScenario({
      tools: [plainTool('write', body, { effect: 'atMostOnce' })],
      agent,
      ...callOf('write', {}),
    })
    expect(result.response).toMatchObject({ errorCode: 'INVALID_ARGS' })
    expect(body).not.toHaveBeenCalled()
  })
})

test('the runner records at most 256 characters of an unknown tool name', async () => {
  const result = await runScenario({ tools: [plainTool('write', () => 'ok')], ...callOf(LARGE, {}) })
  expect(result.response).toMatchObject({ errorCode: 'NOT_FOUND' })
  expect(await storedSize(result)).toBeLessThan(10_000)
})

describe('code execution', () => {
  const executor = (execute: CodeExecutor['execute']): LlmAgentOptions['codeExecutor'] => ({
    languages: ['javascript'],
    callsTools: true,
    execute,
  })
  const code = (text: string): ScriptedStep => ({ parts: [{ executableCode: { language: 'javascript', code: text } }] })

  test('rejects tool calls over maxArgsBytes from code and keeps the log small', async () => {
    const body = vi.fn(() => 'ok')
    const problems: string[] = []
    const codeExecutor = executor(async ({ callTool }) => {
      for (let n = 0; n < 20; n++) {
        await callTool?.('write', { text: LARGE, n }).catch((error: Error) => problems.push(error.message))
      }
      return { outcome: 'OK', output: '' }
    })
    const result = await runScenario({
      tools: [plainTool('write', body)],
      steps: [code('spam'), 'done'],
      agent: { codeExecutor },
    })
    expect(result.text).toBe('done')
    expect(body).not.toHaveBeenCalled()
    expect(problems[0]).toContain('at most 256000')
    expect(await storedSize(result)).toBeLessThan(50_000)
  })

  test('allows tool calls of code to pass 16 times maxArgsBytes in total', async () => {
    const body = vi.fn(() => 'ok')
    const codeExecutor = executor(async ({ callTool }) => {
      const calls = Array.from({ length: 100 }, (_, n) => callTool?.('write', { text: 'x'.repeat(200_000), n }))
      const refused = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected')
      return { outcome: 'OK', output: `${refused.length}` }
    })
    const result = await runScenario({
      tools: [plainTool('write', body)],
      steps: [code('spam'), 'done'],
      agent: { codeExecutor },
    })
    expect(body).toHaveBeenCalledTimes(20)
    expect(await storedSize(result)).toBeLessThan(5_000_000)
  })

  test('returns the response of a call with 200 kB of arguments to code, also after a pause', async () => {
    const body = vi.fn((args: unknown) => ({ length: Object(args).text.length }))
    const codeExecutor = executor(async ({ callTool }) => {
      await callTool?.('write', { text: LARGE }).catch(() => {})
      const answer = await callTool?.('write', { text: 'x'.repeat(200_000) })
      return { outcome: 'OK', output: JSON.stringify(answer) }
    })
    const tools = [plainTool('write', body, { requiresConfirmation: true })]
    const [[, newStore]] = stores as [(typeof stores)[0]]
    const { runner, model } = startProcess(newStore(), { tools, steps: [code('go'), 'done'], agent: { codeExecutor } })
    const { pending } = await sendMessage(runner)
    expect(pending).toHaveLength(1)
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('length')
    expect(body).toHaveBeenCalledOnce()
  })

  test.each([
    ['in a part', code(LARGE)],
    ['in a fenced block', { text: `\`\`\`javascript\n${LARGE}\n\`\`\`` }],
  ])('does not run or record code over maxArgsBytes, %s', async (_, step) => {
    const execute = vi.fn(async () => ({ outcome: 'OK' as const, output: '' }))
    const result = await runScenario({ steps: [step, 'done'], agent: { codeExecutor: executor(execute) } })
    expect(execute).not.toHaveBeenCalled()
    expect(JSON.stringify(result.events[1]?.content)).toContain('maxArgsBytes')
    expect(await storedSize(result)).toBeLessThan(10_000)
    expect(result.text).toBe('done')
  })

  test('runs code of 200 kB', async () => {
    const execute = vi.fn(async () => ({ outcome: 'OK' as const, output: '' }))
    await runScenario({ steps: [code('x'.repeat(200_000)), 'done'], agent: { codeExecutor: executor(execute) } })
    expect(execute).toHaveBeenCalledOnce()
  })
})

describe('state of a session', () => {
  const writing = (write: Tool['run']): Promise<ScenarioResult> =>
    runScenario({ tools: [plainTool('keep', write)], ...callOf('keep', {}) })

  test.each<[string, Tool['run']]>([
    ['in one value', (_, { state }) => state.set('all', 'x'.repeat(100_000_000))],
    ['as a buffer', (_, { state }) => state.set('all', Buffer.alloc(100_000_000))],
    [
      'in many values',
      (_, { state }) => {
        for (let n = 0; n < 100; n++) state.set(`part${n}`, 'x'.repeat(1_000_000))
      },
    ],
    [
      'through actions',
      (_, { actions }) => void Object.assign(actions, { stateDelta: { all: 'x'.repeat(100_000_000) } }),
    ],
  ])('of 100 MB, %s, fails the call with an error that suggests an artifact', async (_, write) => {
    const result = await writing(write)
    expect(result.response).toMatchObject({ errorCode: 'EXECUTION_FAILED', error: expect.stringContaining('artifact') })
    expect(result.state).toEqual({})
    expect(result.text).toBe('done')
  })

  test('of 5 MB, and of a value written 100 times, is stored', async () => {
    const result = await writing((_, { state }) => {
      state.set('document', 'x'.repeat(5_000_000))
      for (let n = 0; n < 100; n++) state.set('progress', `${n}${'x'.repeat(400_000)}`)
    })
    expect(String(result.state.document)).toHaveLength(5_000_000)
    expect(String(result.state.progress)).toHaveLength(400_002)
  })

  test('of more than 10 MB in a message is rejected', async () => {
    const story = { steps: ['done'], stateDelta: { all: 'x'.repeat(11_000_000) } }
    await expect(runScenario(story)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect((await runScenario({ steps: ['done'], stateDelta: { all: 'x'.repeat(9_000_000) } })).text).toBe('done')
  })
})

describe('the runner', () => {
  const media = (megabytes: number): Part[] => [
    { text: 'What is this?' },
    { inlineData: { mimeType: 'video/mp4', data: 'A'.repeat(Math.ceil((megabytes * 1_000_000) / 3) * 4) } },
  ]

  test('accepts a message with 20 MB of media and rejects 40 MB', async () => {
    const model = scriptedModel(['A cat.'])
    const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model }) })
    expect((await runner.complete({ userId: 'ada', message: media(20) })).text).toBe('A cat.')
    expect(model.requests[0]?.contents[0]?.parts[1]?.inlineData?.data).toHaveLength(26_666_668)
    await expect(runner.complete({ userId: 'ada', message: media(40) })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    const text = runner.complete({ userId: 'ada', message: 'x'.repeat(40_000_000) })
    await expect(text).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  test.each(stores)('rejects an answer over maxResultBytes and keeps the request pending (%s)', async (_, newStore) => {
    const ask: Tool['run'] = (_args, context) => context.requestInput({ key: 'text', message: 'Which text?' })
    const { runner } = startProcess(newStore(), {
      tools: [plainTool('ask', ask)],
      steps: [{ calls: [{ name: 'ask' }] }, 'done'],
    })
    const { pending } = await sendMessage(runner)
    const send = (text: string): Promise<unknown> => sendMessage(runner, [respond(requestFor(pending), text)])
    await expect(send(LARGE)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(await runner.pending()).toHaveLength(1)
    expect(await send('x'.repeat(200_000))).toMatchObject({ text: 'done' })
  })

  test('limits runConfig.customMetadata to 256 kB', async () => {
    const { runner } = startProcess(stores[0]?.[1]() as never, { steps: ['done'] })
    const send = (note: string): Promise<unknown> =>
      runner.complete({ ...where, message: 'go', runConfig: { customMetadata: { note } } })
    await expect(send(LARGE)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(await send('x'.repeat(200_000))).toMatchObject({ text: 'done' })
  })

  test.each(stores)('limits an inbox to 1,000 items and accepts more after a drain (%s)', async (_, newStore) => {
    const store = newStore()
    const key = { appName: 'app', ...where }
    await store.createSession(key)
    const post = (n: number): Promise<unknown> => store.post(key, { id: `i${n}`, type: 'state', stateDelta: { n } })
    for (let n = 0; n < 1_000; n++) await post(n)
    await expect(post(1_000)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await post(5) // posted again: already in the inbox
    const lease = await store.claim(key)
    expect(await store.inbox(lease)).toHaveLength(1_000)
    await store.append(lease, 0, [], { drained: ['i0'] })
    await post(1_000)
    const large = { id: 'large', type: 'state' as const, stateDelta: { all: 'x'.repeat(40_000_000) } }
    await expect(store.post(key, large)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })
})

describe('the runner, for the replies of a model,', () => {
  test.each<[string, ScriptedStep]>([
    ['text', { text: 'x'.repeat(40_000_000) }],
    ['media', { parts: [{ inlineData: { mimeType: 'image/png', data: 'A'.repeat(40_000_000) } }] }],
    ['metadata', { text: 'Hi', response: { groundingMetadata: { all: 'x'.repeat(40_000_000) } } }],
  ])('ends with MODEL_ERROR and records nothing for 40 MB of %s', async (_, step) => {
    const result = await runScenario({ steps: [step] })
    expect(result.error).toMatchObject({ code: 'MODEL_ERROR', message: expect.stringContaining('33554432 bytes') })
    expect(await storedSize(result)).toBeLessThan(10_000)
  })

  test('records a reply with a picture of 10 MB', async () => {
    const parts = [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'A'.repeat(10_000_000) } }]
    const result = await runScenario({ steps: [{ parts }] })
    expect(result.error).toBeUndefined()
    expect(result.events[0]?.content?.parts).toEqual(parts)
  })

  test('truncates error messages of a model to 8,000 characters', async () => {
    const result = await runScenario({ steps: [{ error: LARGE }] })
    expect(result.error?.message).toHaveLength(8_003)
    const failing = await runScenario({ steps: [{ text: '', response: { errorCode: 'SAFETY', errorMessage: LARGE } }] })
    expect(failing.error?.message).toHaveLength(8_003)
  })
})

test('the runner rejects an event of more than 32 MB from a custom agent', async () => {
  const runner = new Runner({
    appName: 'app',
    logger: silentLogger,
    agent: {
      name: 'own',
      async *run({ invocation }) {
        const size = Number(invocation.userContent?.parts[0]?.text)
        yield createEvent({ content: { role: 'model', parts: [{ text: 'x'.repeat(size) }] } })
      },
    },
  })
  const send = async (size: number): Promise<{ code?: string | undefined; length: number }> => {
    const { error, text } = await runner.complete({ userId: 'ada', message: String(size) })
    return { code: error?.code, length: text.length }
  }
  expect(await send(40_000_000)).toEqual({ code: 'AGENT_ERROR', length: 0 })
  expect(await send(1_000_000)).toEqual({ code: undefined, length: 1_000_000 })
})

describe('the runner, for requests made by a body,', () => {
  const asking = (ask: Tool['run']): Promise<ScenarioResult> =>
    runScenario({ tools: [plainTool('ask', ask)], ...callOf('ask', {}) })

  test.each<[string, Tool['run']]>([
    ['a hint of 2 MB', (_, context) => context.requestConfirmation({ hint: LARGE })],
    ['a payload of 2 MB', (_, context) => context.requestConfirmation({ hint: 'OK?', payload: { all: LARGE } })],
    ['a key of 2 MB', (_, context) => context.requestInput({ key: LARGE, message: 'Which?' })],
    [
      'a schema of 2 MB',
      (_, context) => context.requestInput({ key: 'a', message: 'Which?', schema: { type: 'string', enum: [LARGE] } }),
    ],
  ])('fails the call for %s', async (_, ask) => {
    const result = await asking(ask)
    expect(result.response).toMatchObject({
      errorCode: 'EXECUTION_FAILED',
      error: expect.stringMatching(/at most|bigger than/),
    })
    expect(await storedSize(result)).toBeLessThan(20_000)
  })

  test.each([64, 1_000])('keeps 64 of %d requested inputs pending', async (count) => {
    const { runner } = startProcess(stores[0]?.[1]() as never, {
      tools: [
        plainTool('ask', (_, context) => {
          for (let n = 0; n < count; n++) context.requestInput({ key: `k${n}`, message: 'Which?' })
        }),
      ],
      steps: [{ calls: [{ name: 'ask' }] }],
    })
    expect((await sendMessage(runner)).pending).toHaveLength(64)
  })

  test('truncates a confirmation hint to 8,000 characters', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      parameters: z.object({}),
      requiresConfirmation: true,
      confirmationHint: () => LARGE,
      run: () => 'ok',
    })
    const { runner } = startProcess(stores[0]?.[1]() as never, {
      tools: [pay],
      steps: [{ calls: [{ name: 'pay' }] }, 'done'],
    })
    const { pending } = await sendMessage(runner)
    expect(pending[0]?.hint).toHaveLength(8_003)
    expect((await sendMessage(runner, [approve(requestFor(pending))])).text).toBe('done')
  })
})

describe('the runner, for results,', () => {
  test('truncates 60 MB of bytes to the base64 of their beginning and end', async () => {
    const bytes = Buffer.alloc(
      60_000_000,
      Uint8Array.from({ length: 251 }, (_, at) => at),
    )
    const { response } = await runScenario({ tools: [plainTool('read', () => bytes)], ...callOf('read', {}) })
    expect(response).toMatchObject({ truncated: true, bytes: 80_000_002 })
    const head = `{"result":"${bytes.subarray(0, 30_000).toString('base64')}`
    const tail = `${bytes.subarray(-30_000).toString('base64')}"}`
    expect(String(response.head).startsWith(head)).toBe(true)
    expect(String(response.tail).endsWith(tail)).toBe(true)
  })

  test('saves 3 MB of bytes completely with an artifact service', async () => {
    const artifactService = new InMemoryArtifactService()
    const bytes = Buffer.alloc(3_000_001, 7)
    const result = await runScenario({
      tools: [plainTool('read', () => bytes)],
      ...callOf('read', {}),
      runner: { artifactService },
    })
    const { sessionId } = result
    const key = { appName: 'app', userId: 'ada', sessionId, filename: 'read-c1.json' }
    const saved = JSON.parse((await artifactService.loadArtifact(key))?.text ?? '')
    expect(saved.result).toBe(bytes.toString('base64'))
  })

  test('limits artifact names to 256 characters and their metadata to 256 kB', async () => {
    const artifactService = new InMemoryArtifactService()
    const save = (name: string, note: string): Promise<ScenarioResult> =>
      runScenario({
        tools: [
          plainTool('save', (_, context) => context.saveArtifact(name, { text: 'a' }, { customMetadata: { note } })),
        ],
        ...callOf('save', {}),
        runner: { artifactService },
      })
    expect((await save('n'.repeat(300), '')).response).toMatchObject({ errorCode: 'EXECUTION_FAILED' })
    expect((await save('name', LARGE)).response).toMatchObject({ errorCode: 'EXECUTION_FAILED' })
    expect((await save('n'.repeat(200), 'note')).response).toEqual({ result: 0 })
  })
})
