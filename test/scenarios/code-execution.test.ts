// Code that a model writes runs after the model reply, through the same dispatcher as tools. The model gets its result.
import {
  approve,
  type CodeExecutor,
  type CodeRequest,
  type CodeResult,
  deny,
  type Event,
  exitLoop,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  type LlmAgentOptions,
  LoopAgent,
  longRunning,
  type Part,
  type PendingRequest,
  Runner,
  type SessionService,
  tool,
} from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createScenario, runMessage, runScenario, silentLogger } from './kit.ts'

type Run = (request: CodeRequest) => CodeResult | Promise<CodeResult>

/** An executor for which the code is the name of a function in `programs`. */
function createExecutor(
  programs: Record<string, Run>,
  options: Partial<CodeExecutor> = {},
): CodeExecutor & { runs: CodeRequest[] } {
  const runs: CodeRequest[] = []
  return {
    languages: ['javascript'],
    callsTools: true,
    runs,
    async execute(request) {
      runs.push(request)
      const program = programs[request.code]
      if (!program) return { outcome: 'FAILED', output: `no program ${request.code}` }
      const aborted = new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason))
      })
      aborted.catch(() => {})
      return await Promise.race([program(request), aborted])
    },
    ...options,
  }
}

const ok = (output: string): CodeResult => ({ outcome: 'OK', output })
const code = (text: string): ScriptedStep => ({ parts: [{ executableCode: { language: 'javascript', code: text } }] })
const results = (events: readonly Event[]): Part['codeExecutionResult'][] =>
  events.flatMap(({ content }) => content?.parts.flatMap((part) => part.codeExecutionResult ?? []) ?? [])

const addTool = tool({
  name: 'add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
})

describe('code execution', () => {
  test('runs the code of the model and sends the output back to the model', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const result = await runScenario({ agent: { codeExecutor }, steps: [code('six'), 'It is six.'] })
    expect(result.text).toBe('It is six.')
    expect(results(result.events)).toEqual([{ id: expect.any(String), outcome: 'OUTCOME_OK', output: '6' }])
    const [asked, shown] = result.model.requests[1]?.contents.slice(1) ?? []
    expect(asked?.parts[0]?.executableCode?.id).toBe(shown?.parts[0]?.codeExecutionResult?.id)
    expect(shown).toMatchObject({ role: 'tool', parts: [{ codeExecutionResult: { output: '6' } }] })
  })

  test.each([
    ['FAILED', 'OUTCOME_FAILED'],
    ['DEADLINE_EXCEEDED', 'OUTCOME_DEADLINE_EXCEEDED'],
  ] as const)('sends the outcome %s to the model, which can write new code', async (outcome, shown) => {
    const codeExecutor = createExecutor({ bad: () => ({ outcome, output: 'oh no' }), good: () => ok('fine') })
    const result = await runScenario({ agent: { codeExecutor }, steps: [code('bad'), code('good'), 'done'] })
    expect(results(result.events)).toMatchObject([{ outcome: shown, output: 'oh no' }, { outcome: 'OUTCOME_OK' }])
    expect(result.text).toBe('done')
  })

  test('stops after three runs of the same failing code', async () => {
    const codeExecutor = createExecutor({ bad: () => ({ outcome: 'FAILED', output: 'oh no' }) })
    const result = await runScenario({
      agent: { codeExecutor },
      steps: [code('bad'), code('bad'), code('bad'), code('bad')],
    })
    expect(result.error?.code).toBe('REPEATED_CALL')
    expect(codeExecutor.runs).toHaveLength(3)
  })

  test('answers code and function calls of one reply in order', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const parts: Part[] = [
      { executableCode: { language: 'javascript', code: 'six' } },
      { functionCall: { id: 'c1', name: 'add', args: { a: 1, b: 2 } } },
    ]
    const result = await runScenario({ agent: { codeExecutor }, tools: [addTool], steps: [{ parts }, 'done'] })
    expect(result.model.requests[1]?.contents.at(-1)?.parts).toMatchObject([
      { codeExecutionResult: { output: '6' } },
      { functionResponse: { id: 'c1', response: { sum: 3 } } },
    ])
  })

  test('runs a fenced code block in the text of a model', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const result = await runScenario({
      agent: { codeExecutor },
      steps: ['Let me count.\n```js\nsix\n```\nIt is 7.', 'It is six.'],
    })
    expect(codeExecutor.runs[0]).toMatchObject({ language: 'javascript', code: 'six' })
    expect(result.model.requests[1]?.contents[1]?.parts).toMatchObject([
      { text: 'Let me count.' },
      { executableCode: { code: 'six' } },
    ])
    expect(result.text).toBe('It is six.')
  })

  test('treats a fenced code block as text without an executor', async () => {
    const result = await runScenario({ steps: ['```js\nsix\n```'] })
    expect(result.text).toBe('```js\nsix\n```')
  })

  test('does not run code whose result the model already returned', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const parts: Part[] = [
      { executableCode: { language: 'PYTHON', code: 'six' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '6' } },
      { text: 'It is six.' },
    ]
    const result = await runScenario({ agent: { codeExecutor }, steps: [{ parts }] })
    expect(result.text).toBe('It is six.')
    expect(codeExecutor.runs).toEqual([])
  })

  test('stores the final answer under outputKey, not the text before the code', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const result = await runScenario({
      agent: { codeExecutor, outputKey: 'answer' },
      steps: ['Counting.\n```js\nsix\n```', 'six'],
    })
    expect(result.state).toEqual({ answer: 'six' })
  })

  test('tells the model the language, the instruction of the executor and the callable tools', async () => {
    const codeExecutor = createExecutor({}, { instruction: 'Print with console.log.' })
    const result = await runScenario({
      agent: { codeExecutor, instruction: 'Be brief.' },
      tools: [addTool],
      steps: ['hi'],
    })
    const system = result.model.requests[0]?.config.systemInstruction
    expect(system).toContain('Be brief.')
    expect(system).toContain('run javascript code')
    expect(system).toContain('Print with console.log.')
    expect(system).toContain('add')
  })

  test('retries an executor that throws once, then sends the error to the model', async () => {
    const broken = vi.fn(() => Promise.reject(new Error('no engine')))
    const codeExecutor = createExecutor({ six: broken })
    const result = await runScenario({ agent: { codeExecutor }, steps: [code('six'), 'done'] })
    expect(broken).toHaveBeenCalledTimes(2)
    expect(results(result.events)).toMatchObject([
      {
        outcome: 'OUTCOME_FAILED',
        output: 'The code executor failed 2 times (this is not an error in the code): no engine',
      },
    ])
  })

  test('does not send an executor error to the model if the retry succeeds', async () => {
    const broken = vi
      .fn((): CodeResult => ok('6'))
      .mockImplementationOnce(() => {
        throw new Error('no engine')
      })
    const result = await runScenario({
      agent: { codeExecutor: createExecutor({ six: broken }) },
      steps: [code('six'), 'done'],
    })
    expect(results(result.events)).toMatchObject([{ outcome: 'OUTCOME_OK', output: '6' }])
  })

  test('truncates output above maxResultBytes', async () => {
    const codeExecutor = createExecutor({ big: () => ok('x'.repeat(5_000)) })
    const result = await runScenario({
      agent: { codeExecutor },
      runner: { maxResultBytes: 2_000 },
      steps: [code('big'), 'done'],
    })
    const [codeResult] = results(result.events)
    expect(codeResult?.output?.length).toBeLessThan(2_500)
    expect(codeResult?.output).toContain('truncated')
  })

  test('passes a different sessionKey for each session and user', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const { runner } = createScenario({
      agent: { codeExecutor },
      steps: [code('six'), 'a', code('six'), 'b', code('six'), 'c'],
    })
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    await runner.complete({ userId: 'ada', sessionId, message: 'go' })
    await runner.complete({ userId: 'bob', sessionId, message: 'go' })
    const [first, second, other] = codeExecutor.runs.map(({ sessionKey }) => sessionKey)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
  })

  test('shuts the executor down when the runner is closed', async () => {
    const shutdown = vi.fn(async () => {})
    const { runner } = createScenario({ agent: { codeExecutor: createExecutor({}, { shutdown }) } })
    await runner.close()
    expect(shutdown).toHaveBeenCalledOnce()
  })
})

describe('code execution with gates and callbacks', () => {
  test('lets beforeTool replace the result of code', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const result = await runScenario({
      agent: {
        codeExecutor,
        beforeTool: ({ tool: { name }, args }) => ({ result: { error: `${name}: no ${args.code}` } }),
      },
      steps: [code('six'), 'done'],
    })
    expect(codeExecutor.runs).toEqual([])
    expect(results(result.events)).toMatchObject([{ outcome: 'OUTCOME_FAILED', output: 'execute_code: no six' }])
  })

  test('runs code that requires confirmation only after an approval', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') }, { requiresConfirmation: true })
    const { runner } = createScenario({ agent: { codeExecutor }, steps: [code('six'), 'done'] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(codeExecutor.runs).toEqual([])
    expect(pending).toMatchObject([{ kind: 'confirmation', tool: 'execute_code', args: { code: 'six' } }])
    const message = [approve(pending[0] as PendingRequest)]
    const { events, text } = await runner.complete({ userId: 'ada', sessionId, message })
    expect(results(events)).toMatchObject([{ outcome: 'OUTCOME_OK', output: '6' }])
    expect(text).toBe('done')
  })

  test('does not run denied code and sends the denial to the model', async () => {
    const codeExecutor = createExecutor({ six: () => ok('6') }, { requiresConfirmation: true })
    const { runner } = createScenario({ agent: { codeExecutor }, steps: [code('six'), 'done'] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    const message = [deny(pending[0] as PendingRequest)]
    const { events } = await runner.complete({ userId: 'ada', sessionId, message })
    expect(codeExecutor.runs).toEqual([])
    expect(results(events)).toMatchObject([{ outcome: 'OUTCOME_FAILED', output: expect.stringContaining('rejected') }])
  })

  test('stops the code on cancel and records a result', async () => {
    const started = Promise.withResolvers<void>()
    const codeExecutor = createExecutor({
      forever: () => {
        started.resolve()
        return new Promise(() => {})
      },
    })
    const { runner, model } = createScenario({ agent: { codeExecutor }, steps: [code('forever'), 'never'] })
    const controller = new AbortController()
    const running = runMessage(runner, model, { signal: controller.signal })
    await started.promise
    controller.abort()
    const result = await running
    expect(result.error?.code).toBe('CANCELLED')
    expect(codeExecutor.runs[0]?.signal.aborted).toBe(true)
    expect(results(result.events)).toMatchObject([{ outcome: 'OUTCOME_FAILED' }])
  })

  test('does not run atMostOnce code again after a crash', async () => {
    const codeExecutor = createExecutor({ fire: () => ok('fired') }, { effect: 'atMostOnce' })
    const { events } = await crashAndResume({ codeExecutor, first: 'fire', crashAt: 4 })
    expect(codeExecutor.runs).toHaveLength(1)
    expect(results(events)).toMatchObject([
      { outcome: 'OUTCOME_FAILED', output: expect.stringContaining('interrupted') },
    ])
  })
})

describe('tools called from code', () => {
  const sumOf: Run = async ({ callTool }) => {
    const first = await callTool?.('add', { a: 1, b: 2 })
    const second = await callTool?.('add', { a: first?.sum as number, b: 10 })
    return ok(String(second?.sum))
  }

  test('run through the dispatcher as events that the model does not see', async () => {
    const codeExecutor = createExecutor({ sum: sumOf })
    const seen: string[] = []
    const result = await runScenario({
      agent: { codeExecutor, beforeTool: ({ tool: { name } }) => void seen.push(name) },
      tools: [addTool],
      steps: [code('sum'), 'done'],
    })
    expect(seen).toEqual(['execute_code', 'add', 'add'])
    expect(results(result.events)).toMatchObject([{ output: '13' }])
    expect(result.responses.map(({ response }) => response)).toEqual([{ sum: 3 }, { sum: 13 }])
    expect(result.model.requests[1]?.contents).toHaveLength(3)
  })

  test('can run in parallel', async () => {
    const codeExecutor = createExecutor({
      many: async ({ callTool }) => {
        const sums = await Promise.all([1, 2, 3].map((a) => callTool?.('add', { a, b: 0 })))
        return ok(JSON.stringify(sums))
      },
    })
    const result = await runScenario({ agent: { codeExecutor }, tools: [addTool], steps: [code('many'), 'done'] })
    expect(results(result.events)).toMatchObject([{ output: '[{"sum":1},{"sum":2},{"sum":3}]' }])
  })

  test.each([
    ['wrong arguments', 'add', { a: 'x' }, 'INVALID_ARGS'],
    ['an unknown tool', 'constructor', {}, 'NOT_FOUND'],
  ])('reject %s with the error code of a model call', async (_, name, args, errorCode) => {
    const codeExecutor = createExecutor({
      bad: async ({ callTool }) => {
        const error = (await callTool?.(name, args).catch((thrown: unknown) => thrown)) as { code: string }
        return ok(error.code)
      },
    })
    const result = await runScenario({ agent: { codeExecutor }, tools: [addTool], steps: [code('bad'), 'done'] })
    expect(results(result.events)).toMatchObject([{ output: errorCode }])
  })

  test('pause the code for a confirmation; after it the code runs again with the recorded results', async () => {
    const pay = vi.fn(() => 'paid')
    const payTool = tool({ name: 'pay', description: 'Pay', requiresConfirmation: true, run: pay })
    const added = vi.fn(() => 3)
    const add = tool({ name: 'add', description: 'Add', run: added })
    const codeExecutor = createExecutor({
      pay: async ({ callTool }) => {
        await callTool?.('add', {})
        return ok(JSON.stringify(await callTool?.('pay', {}).catch((error: Error) => error.message)))
      },
    })
    const { runner } = createScenario({ agent: { codeExecutor }, tools: [add, payTool], steps: [code('pay'), 'done'] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(pay).not.toHaveBeenCalled()
    expect(pending).toMatchObject([{ kind: 'confirmation', tool: 'pay' }])
    const message = [approve(pending[0] as PendingRequest)]
    const { events } = await runner.complete({ userId: 'ada', sessionId, message })
    expect(results(events)).toMatchObject([{ output: '{"result":"paid"}' }])
    expect([pay.mock.calls.length, added.mock.calls.length]).toEqual([1, 1])
  })

  test.each<[string, Run]>([
    [
      'code that does not await its call',
      async ({ callTool }) => {
        void callTool?.('slow', {})
        return ok('left')
      },
    ],
    [
      'an executor that throws during a call',
      async ({ callTool }) => {
        void callTool?.('slow', {}).catch(() => {})
        throw new Error('the worker died')
      },
    ],
  ])('are recorded once before the model continues: %s', async (_case, program) => {
    const run = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 20, 'done')))
    const slow = tool({ name: 'slow', description: 'Slow', run })
    const result = await runScenario({
      agent: { codeExecutor: createExecutor({ go: program }) },
      tools: [slow],
      steps: [code('go'), 'done'],
    })
    expect(result.text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    const order = result.events.flatMap(({ content }) => content?.parts.map((part) => Object.keys(part)[0]) ?? [])
    expect(order).toEqual(['executableCode', 'functionCall', 'functionResponse', 'codeExecutionResult', 'text'])
  })

  test('that run beside a call with confirmation start before the pause or after it, never during it', async () => {
    const store = new InMemorySessionService()
    let appends = 0
    const slowStore = new Proxy(store, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          // delays the append of the second call while the first one requests confirmation
          if (member === 'append' && ++appends === 4) await new Promise((resolve) => setTimeout(resolve, 20))
          return await value.apply(target, args)
        }
      },
    })
    const ran = vi.fn(() => 'looked')
    const look = tool({ name: 'look', description: 'Look', run: ran })
    const pay = tool({ name: 'pay', description: 'Pay', requiresConfirmation: true, run: () => 'paid' })
    const both: Run = async ({ callTool }) => {
      const all = await Promise.all([callTool?.('pay', {}), callTool?.('look', {})])
      return ok(JSON.stringify(all.map((one) => one?.result)))
    }
    const { runner } = createScenario({
      agent: { codeExecutor: createExecutor({ both }) },
      tools: [look, pay],
      steps: [code('both'), 'done'],
      runner: { sessionService: slowStore },
    })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    const runsAtPause = ran.mock.calls.length
    const before = (await store.getSession({ appName: 'app', userId: 'ada', sessionId }))?.events.length
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(ran).toHaveBeenCalledTimes(runsAtPause)
    expect((await store.getSession({ appName: 'app', userId: 'ada', sessionId }))?.events).toHaveLength(before ?? 0)
    const { events } = await runner.complete({
      userId: 'ada',
      sessionId,
      message: [approve(pending[0] as PendingRequest)],
    })
    expect(results(events)).toMatchObject([{ output: '["paid","looked"]' }])
    expect(ran).toHaveBeenCalledOnce()
  })

  test('fail after 256 calls from one piece of code', async () => {
    const codeExecutor = createExecutor({
      loop: async ({ callTool }) => {
        for (;;) await callTool?.('add', { a: 1, b: 1 })
      },
    })
    const result = await runScenario({ agent: { codeExecutor }, tools: [addTool], steps: [code('loop'), 'done'] })
    expect(results(result.events)).toMatchObject([
      { outcome: 'OUTCOME_FAILED', output: expect.stringContaining('256') },
    ])
    expect(result.responses).toHaveLength(256) // the retry of the executor got the recorded results
  })

  test('end a loop with exit_loop after the code has ended', async () => {
    const codeExecutor = createExecutor({
      leave: async ({ callTool }) => ok(JSON.stringify(await callTool?.('exit_loop', {}))),
    })
    const model = scriptedModel([code('leave')])
    const worker = new LlmAgent({ name: 'worker', model, codeExecutor, tools: [exitLoop()] })
    const runner = new Runner({
      appName: 'app',
      agent: new LoopAgent({ name: 'loop', subAgents: [worker], maxIterations: 3 }),
    })
    await runner.complete({ userId: 'ada', message: 'go' })
    model.assertComplete()
    expect(model.requests).toHaveLength(1)
  })

  test('pause the code for a long-running tool; after its result the code runs again', async () => {
    const ask = vi.fn(() => ({ status: 'asked' }))
    const askTool = longRunning(tool({ name: 'ask', description: 'Ask', run: ask }))
    const added = vi.fn(({ a, b }: { a: number; b: number }) => ({ sum: a + b }))
    const add = tool({
      name: 'add',
      description: 'Add',
      parameters: z.object({ a: z.number(), b: z.number() }),
      run: added,
    })
    const codeExecutor = createExecutor({
      both: async ({ callTool }) => {
        const first = await callTool?.('add', { a: 1, b: 2 })
        const answer = await callTool?.('ask', {})
        return ok(`${first?.sum} ${answer?.said}`)
      },
    })
    const { runner } = createScenario({ agent: { codeExecutor }, tools: [add, askTool], steps: [code('both'), 'done'] })
    const paused = await runner.complete({ userId: 'ada', message: 'go' })
    const pending = paused.pending[0]
    expect(pending).toMatchObject({ tool: 'ask', kind: 'longRunning' })
    const response = { said: 'yes' }
    const parts: Part[] = [{ functionResponse: { id: pending?.functionCallId as string, name: 'ask', response } }]
    const done = await runner.complete({ userId: 'ada', sessionId: paused.sessionId, message: parts })
    expect(done.text).toBe('done')
    expect(results(done.events)).toMatchObject([{ outcome: 'OUTCOME_OK', output: '3 yes' }])
    expect(ask).toHaveBeenCalledOnce()
    expect(added).toHaveBeenCalledOnce()
    expect(codeExecutor.runs).toHaveLength(2)
  })

  test('cannot be imitated by a model call with the id of a call from code', async () => {
    const pay = vi.fn(() => ({ paid: true }))
    const payTool = tool({ name: 'pay', description: 'Pay', run: pay })
    const codeExecutor = createExecutor({
      pay: async ({ callTool }) => ok(JSON.stringify(await callTool?.('pay', {}))),
    })
    const parts: Part[] = [
      { executableCode: { id: 'x', language: 'javascript', code: 'pay' } },
      { functionCall: { id: 'x.1', name: 'pay', args: {} } },
    ]
    const result = await runScenario({ agent: { codeExecutor }, tools: [payTool], steps: [{ parts }, 'done'] })
    expect(pay).toHaveBeenCalledTimes(2) // once for the code, once for the model
    expect(result.responses).toHaveLength(2)
    expect(new Set(result.responses.map(({ id }) => id)).size).toBe(2)
  })

  test('are told apart from code and calls with the same id', async () => {
    const pay = vi.fn(() => ({ paid: true }))
    const payTool = tool({ name: 'pay', description: 'Pay', run: pay })
    const codeExecutor = createExecutor({ six: () => ok('6') })
    const parts: Part[] = [
      { functionCall: { id: 'x', name: 'pay', args: {} } },
      { executableCode: { id: 'x', language: 'javascript', code: 'six' } },
      { executableCode: { id: 'x', language: 'javascript', code: 'six' } },
    ]
    const result = await runScenario({ agent: { codeExecutor }, tools: [payTool], steps: [{ parts }, 'done'] })
    expect(result.text).toBe('done')
    expect(pay).toHaveBeenCalledOnce()
    expect(codeExecutor.runs).toHaveLength(2)
    expect(results(result.events)).toHaveLength(2)
  })

  test('fail when the code makes different calls after a pause', async () => {
    let runs = 0
    const codeExecutor = createExecutor({
      other: async ({ callTool }) => ok(JSON.stringify(await callTool?.('add', { a: ++runs, b: 0 }).catch(String))),
    })
    const { events } = await crashAndResume({ codeExecutor, tools: [addTool], first: 'other', crashAt: 5 })
    expect(results(events)[0]?.output).toContain('was run again after a pause')
  })
})

describe('files of code execution', () => {
  test('are the artifacts of the session, and written files become artifacts', async () => {
    const artifactService = new InMemoryArtifactService()
    const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
    await artifactService.saveArtifact({ ...key, filename: 'in.csv', artifact: { text: 'a,b' } })
    await artifactService.saveArtifact({
      ...key,
      filename: 'user:dir/pic.png',
      artifact: { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    })
    const codeExecutor = createExecutor({
      copy: ({ files = [] }) => ({
        outcome: 'OK',
        output: files.map(({ name, data }) => `${name}=${data}`).join(' '),
        files: [
          { name: 'in.csv', mimeType: 'text/csv', data: 'QSxC' },
          { name: '../user:evil.txt', data: 'AAAA' },
        ],
      }),
    })
    const { runner } = createScenario({
      agent: { codeExecutor },
      runner: { artifactService },
      steps: [code('copy'), 'done'],
    })
    const { events } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'go' })
    expect(results(events)[0]?.output).toContain('in.csv=YSxi')
    expect(results(events)[0]?.output).toContain('dir_pic.png=AAAA')
    const saved = events.find(({ actions }) => actions.artifactDelta)?.actions.artifactDelta
    expect(saved).toEqual({ 'in.csv': 1, '.._user_evil.txt': 0 })
    expect(await artifactService.loadArtifact({ ...key, filename: 'in.csv' })).toMatchObject({
      inlineData: { data: 'QSxC' },
    })
  })

  test('are not saved without an artifact service, and the model sees their names', async () => {
    const codeExecutor = createExecutor({
      write: () => ({ outcome: 'OK', output: '', files: [{ name: 'a.txt', data: 'AAAA' }] }),
    })
    const result = await runScenario({ agent: { codeExecutor }, steps: [code('write'), 'done'] })
    expect(codeExecutor.runs[0]?.files).toBeUndefined()
    expect(results(result.events)[0]?.output).toContain('a.txt')
    expect(results(result.events)[0]?.output).toContain('not saved')
  })
})

/** Runs until the session service throws at its n-th append, then resumes with a new runner. */
async function crashAndResume(scenario: {
  readonly codeExecutor: CodeExecutor
  readonly tools?: LlmAgentOptions['tools']
  readonly first: string
  readonly crashAt: number
}): Promise<{ events: readonly Event[] }> {
  const key = { userId: 'ada', sessionId: 's1' }
  const sessionService = new InMemorySessionService()
  let appends = 0
  const crashing: SessionService = new Proxy<SessionService>(sessionService, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function' || member !== 'append')
        return value instanceof Function ? value.bind(target) : value
      return async (...args: unknown[]) => {
        if (++appends >= scenario.crashAt) throw new Error('crashed')
        return await value.apply(target, args)
      }
    },
  })
  const createRunner = (service: SessionService): Runner => {
    const step: ScriptedStep = ({ contents }) => (contents.at(-1)?.role === 'tool' ? 'done' : code(scenario.first))
    const model = scriptedModel([step, step, step])
    const agent = new LlmAgent({ name: 'agent', model, codeExecutor: scenario.codeExecutor, tools: scenario.tools })
    return new Runner({ appName: 'app', agent, sessionService: service, logger: silentLogger })
  }
  await createRunner(crashing)
    .complete({ ...key, message: 'go' })
    .catch(() => {})
  expect(appends).toBeGreaterThanOrEqual(scenario.crashAt)
  for await (const _ of createRunner(sessionService).resume(key));
  const session = await sessionService.getSession({ appName: 'app', ...key })
  return { events: session?.events ?? [] }
}
