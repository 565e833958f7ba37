// Code a model writes is run after its turn, through the same dispatcher as tools, and its result goes back to it.
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
import { type Step, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { play, quiet, stage, tell } from './kit.ts'

type Run = (request: CodeRequest) => CodeResult | Promise<CodeResult>

/** An executor whose code says what to do: the program is a name in `programs`, its output what that gives. */
function executor(
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
const code = (text: string): Step => ({ parts: [{ executableCode: { language: 'javascript', code: text } }] })
const results = (events: readonly Event[]): Part['codeExecutionResult'][] =>
  events.flatMap(({ content }) => content?.parts.flatMap((part) => part.codeExecutionResult ?? []) ?? [])

const addTool = tool({
  name: 'add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
})

describe('the turn of code', () => {
  test('code is run, its output is shown to the model, and the model answers', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const told = await play({ agent: { codeExecutor }, steps: [code('six'), 'It is six.'] })
    expect(told.text).toBe('It is six.')
    expect(results(told.events)).toEqual([{ id: expect.any(String), outcome: 'OUTCOME_OK', output: '6' }])
    const [asked, shown] = told.model.requests[1]?.contents.slice(1) ?? []
    expect(asked?.parts[0]?.executableCode?.id).toBe(shown?.parts[0]?.codeExecutionResult?.id)
    expect(shown).toMatchObject({ role: 'tool', parts: [{ codeExecutionResult: { output: '6' } }] })
  })

  test.each([
    ['FAILED', 'OUTCOME_FAILED'],
    ['DEADLINE_EXCEEDED', 'OUTCOME_DEADLINE_EXCEEDED'],
  ] as const)('%s is told to the model, which may try again', async (outcome, shown) => {
    const codeExecutor = executor({ bad: () => ({ outcome, output: 'oh no' }), good: () => ok('fine') })
    const told = await play({ agent: { codeExecutor }, steps: [code('bad'), code('good'), 'done'] })
    expect(results(told.events)).toMatchObject([{ outcome: shown, output: 'oh no' }, { outcome: 'OUTCOME_OK' }])
    expect(told.text).toBe('done')
  })

  test('the same failing code is not run for ever', async () => {
    const codeExecutor = executor({ bad: () => ({ outcome: 'FAILED', output: 'oh no' }) })
    const told = await play({ agent: { codeExecutor }, steps: [code('bad'), code('bad'), code('bad'), code('bad')] })
    expect(told.error?.code).toBe('REPEATED_CALL')
    expect(codeExecutor.runs).toHaveLength(3)
  })

  test('a turn with function calls and code has both answered, in order', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const parts: Part[] = [
      { executableCode: { language: 'javascript', code: 'six' } },
      { functionCall: { id: 'c1', name: 'add', args: { a: 1, b: 2 } } },
    ]
    const told = await play({ agent: { codeExecutor }, tools: [addTool], steps: [{ parts }, 'done'] })
    expect(told.model.requests[1]?.contents.at(-1)?.parts).toMatchObject([
      { codeExecutionResult: { output: '6' } },
      { functionResponse: { id: 'c1', response: { sum: 3 } } },
    ])
  })

  test('fenced blocks are code for a model that has no parts for it', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const told = await play({
      agent: { codeExecutor },
      steps: ['Let me count.\n```js\nsix\n```\nIt is 7.', 'It is six.'],
    })
    expect(codeExecutor.runs[0]).toMatchObject({ language: 'javascript', code: 'six' })
    expect(told.model.requests[1]?.contents[1]?.parts).toMatchObject([
      { text: 'Let me count.' },
      { executableCode: { code: 'six' } },
    ])
    expect(told.text).toBe('It is six.')
  })

  test('without an executor a fenced block is only text', async () => {
    const told = await play({ steps: ['```js\nsix\n```'] })
    expect(told.text).toBe('```js\nsix\n```')
  })

  test('code that the model has run itself is not run again', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const parts: Part[] = [
      { executableCode: { language: 'PYTHON', code: 'six' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '6' } },
      { text: 'It is six.' },
    ]
    const told = await play({ agent: { codeExecutor }, steps: [{ parts }] })
    expect(told.text).toBe('It is six.')
    expect(codeExecutor.runs).toEqual([])
  })

  test('the output key gets the answer, not what was said before code', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const told = await play({
      agent: { codeExecutor, outputKey: 'answer' },
      steps: ['Counting.\n```js\nsix\n```', 'six'],
    })
    expect(told.state).toEqual({ answer: 'six' })
  })

  test('the model is told how to run code and what code can call', async () => {
    const codeExecutor = executor({}, { instruction: 'Print with console.log.' })
    const told = await play({ agent: { codeExecutor, instruction: 'Be brief.' }, tools: [addTool], steps: ['hi'] })
    const system = told.model.requests[0]?.config.systemInstruction
    expect(system).toContain('Be brief.')
    expect(system).toContain('run javascript code')
    expect(system).toContain('Print with console.log.')
    expect(system).toContain('add')
  })

  test('an executor that fails by itself is tried twice, then the model is told', async () => {
    const broken = vi.fn(() => Promise.reject(new Error('no engine')))
    const codeExecutor = executor({ six: broken })
    const told = await play({ agent: { codeExecutor }, steps: [code('six'), 'done'] })
    expect(broken).toHaveBeenCalledTimes(2)
    expect(results(told.events)).toMatchObject([
      { outcome: 'OUTCOME_FAILED', output: 'The code could not be run: no engine' },
    ])
  })

  test("an executor that fails once is not the model's business", async () => {
    const broken = vi
      .fn((): CodeResult => ok('6'))
      .mockImplementationOnce(() => {
        throw new Error('no engine')
      })
    const told = await play({ agent: { codeExecutor: executor({ six: broken }) }, steps: [code('six'), 'done'] })
    expect(results(told.events)).toMatchObject([{ outcome: 'OUTCOME_OK', output: '6' }])
  })

  test('an output over the cap is cut', async () => {
    const codeExecutor = executor({ big: () => ok('x'.repeat(5_000)) })
    const told = await play({
      agent: { codeExecutor },
      runner: { maxResultBytes: 2_000 },
      steps: [code('big'), 'done'],
    })
    const [result] = results(told.events)
    expect(result?.output?.length).toBeLessThan(2_500)
    expect(result?.output).toContain('truncated')
  })

  test('each session has a key of its own, users and apps apart', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const { runner } = stage({ agent: { codeExecutor }, steps: [code('six'), 'a', code('six'), 'b', code('six'), 'c'] })
    const { sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    await runner.complete({ userId: 'ada', sessionId, message: 'go' })
    await runner.complete({ userId: 'bob', sessionId, message: 'go' })
    const [first, second, other] = codeExecutor.runs.map(({ sessionKey }) => sessionKey)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
  })

  test('closing the runner shuts the executor down', async () => {
    const shutdown = vi.fn(async () => {})
    const { runner } = stage({ agent: { codeExecutor: executor({}, { shutdown }) } })
    await runner.close()
    expect(shutdown).toHaveBeenCalledOnce()
  })
})

describe('gates and callbacks', () => {
  test('beforeTool sees code and can refuse it', async () => {
    const codeExecutor = executor({ six: () => ok('6') })
    const told = await play({
      agent: {
        codeExecutor,
        beforeTool: ({ tool: { name }, args }) => ({ result: { error: `${name}: no ${args.code}` } }),
      },
      steps: [code('six'), 'done'],
    })
    expect(codeExecutor.runs).toEqual([])
    expect(results(told.events)).toMatchObject([{ outcome: 'OUTCOME_FAILED', output: 'execute_code: no six' }])
  })

  test('code that needs a yes waits for it', async () => {
    const codeExecutor = executor({ six: () => ok('6') }, { requiresConfirmation: true })
    const { runner } = stage({ agent: { codeExecutor }, steps: [code('six'), 'done'] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(codeExecutor.runs).toEqual([])
    expect(pending).toMatchObject([{ kind: 'confirmation', tool: 'execute_code', args: { code: 'six' } }])
    const message = [approve(pending[0] as PendingRequest)]
    const { events, text } = await runner.complete({ userId: 'ada', sessionId, message })
    expect(results(events)).toMatchObject([{ outcome: 'OUTCOME_OK', output: '6' }])
    expect(text).toBe('done')
  })

  test('code that is refused is not run, and the model is told', async () => {
    const codeExecutor = executor({ six: () => ok('6') }, { requiresConfirmation: true })
    const { runner } = stage({ agent: { codeExecutor }, steps: [code('six'), 'done'] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    const message = [deny(pending[0] as PendingRequest)]
    const { events } = await runner.complete({ userId: 'ada', sessionId, message })
    expect(codeExecutor.runs).toEqual([])
    expect(results(events)).toMatchObject([{ outcome: 'OUTCOME_FAILED', output: expect.stringContaining('rejected') }])
  })

  test('cancelling stops the code, and it has an answer in the log', async () => {
    const started = Promise.withResolvers<void>()
    const codeExecutor = executor({
      forever: () => {
        started.resolve()
        return new Promise(() => {})
      },
    })
    const { runner, model } = stage({ agent: { codeExecutor }, steps: [code('forever'), 'never'] })
    const controller = new AbortController()
    const telling = tell(runner, model, { signal: controller.signal })
    await started.promise
    controller.abort()
    const told = await telling
    expect(told.error?.code).toBe('CANCELLED')
    expect(codeExecutor.runs[0]?.signal.aborted).toBe(true)
    expect(results(told.events)).toMatchObject([{ outcome: 'OUTCOME_FAILED' }])
  })

  test('code with effects that a crash interrupted is not run again', async () => {
    const codeExecutor = executor({ fire: () => ok('fired') }, { effect: 'atMostOnce' })
    const { events } = await crashAndResume({ codeExecutor, first: 'fire', dieAt: 4 })
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

  test("go through the dispatcher and are events of their own, out of the model's sight", async () => {
    const codeExecutor = executor({ sum: sumOf })
    const seen: string[] = []
    const told = await play({
      agent: { codeExecutor, beforeTool: ({ tool: { name } }) => void seen.push(name) },
      tools: [addTool],
      steps: [code('sum'), 'done'],
    })
    expect(seen).toEqual(['execute_code', 'add', 'add'])
    expect(results(told.events)).toMatchObject([{ output: '13' }])
    expect(told.responses.map(({ response }) => response)).toEqual([{ sum: 3 }, { sum: 13 }])
    expect(told.model.requests[1]?.contents).toHaveLength(3)
  })

  test('many can be called at once', async () => {
    const codeExecutor = executor({
      many: async ({ callTool }) => {
        const sums = await Promise.all([1, 2, 3].map((a) => callTool?.('add', { a, b: 0 })))
        return ok(JSON.stringify(sums))
      },
    })
    const told = await play({ agent: { codeExecutor }, tools: [addTool], steps: [code('many'), 'done'] })
    expect(results(told.events)).toMatchObject([{ output: '[{"sum":1},{"sum":2},{"sum":3}]' }])
  })

  test.each([
    ['wrong arguments', 'add', { a: 'x' }, 'INVALID_ARGS'],
    ['an unknown tool', 'constructor', {}, 'NOT_FOUND'],
  ])('%s reject with what the model would be told', async (_, name, args, errorCode) => {
    const codeExecutor = executor({
      bad: async ({ callTool }) => {
        const error = (await callTool?.(name, args).catch((thrown: unknown) => thrown)) as { code: string }
        return ok(error.code)
      },
    })
    const told = await play({ agent: { codeExecutor }, tools: [addTool], steps: [code('bad'), 'done'] })
    expect(results(told.events)).toMatchObject([{ output: errorCode }])
  })

  test('a tool that needs a yes pauses the code, which is run again with the answers it had', async () => {
    const pay = vi.fn(() => 'paid')
    const payTool = tool({ name: 'pay', description: 'Pay', requiresConfirmation: true, run: pay })
    const added = vi.fn(() => 3)
    const add = tool({ name: 'add', description: 'Add', run: added })
    const codeExecutor = executor({
      pay: async ({ callTool }) => {
        await callTool?.('add', {})
        return ok(JSON.stringify(await callTool?.('pay', {}).catch((error: Error) => error.message)))
      },
    })
    const { runner } = stage({ agent: { codeExecutor }, tools: [add, payTool], steps: [code('pay'), 'done'] })
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
      'code that does not wait for what it called',
      async ({ callTool }) => {
        void callTool?.('slow', {})
        return ok('left')
      },
    ],
    [
      'an executor that fails while the code calls',
      async ({ callTool }) => {
        void callTool?.('slow', {}).catch(() => {})
        throw new Error('the worker died')
      },
    ],
  ])('%s is waited for: the call is recorded, once, before anything goes on', async (_what, program) => {
    const run = vi.fn(() => new Promise((resolve) => setTimeout(resolve, 20, 'done')))
    const slow = tool({ name: 'slow', description: 'Slow', run })
    const told = await play({
      agent: { codeExecutor: executor({ go: program }) },
      tools: [slow],
      steps: [code('go'), 'done'],
    })
    expect(told.text).toBe('done')
    expect(run).toHaveBeenCalledOnce()
    const order = told.events.flatMap(({ content }) => content?.parts.map((part) => Object.keys(part)[0]) ?? [])
    expect(order).toEqual(['executableCode', 'functionCall', 'functionResponse', 'codeExecutionResult', 'text'])
  })

  test('what code calls beside something that needs a yes begins before the pause, or after it', async () => {
    const store = new InMemorySessionService()
    let appends = 0
    const slowly = new Proxy(store, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          // the second call of the code is on its way to the log while the first asks
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
    const { runner } = stage({
      agent: { codeExecutor: executor({ both }) },
      tools: [look, pay],
      steps: [code('both'), 'done'],
      runner: { sessionService: slowly },
    })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'go' })
    const atRest = ran.mock.calls.length
    const before = (await store.getSession({ appName: 'app', userId: 'ada', sessionId }))?.events.length
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(ran).toHaveBeenCalledTimes(atRest)
    expect((await store.getSession({ appName: 'app', userId: 'ada', sessionId }))?.events).toHaveLength(before ?? 0)
    const { events } = await runner.complete({
      userId: 'ada',
      sessionId,
      message: [approve(pending[0] as PendingRequest)],
    })
    expect(results(events)).toMatchObject([{ output: '["paid","looked"]' }])
    expect(ran).toHaveBeenCalledOnce()
  })

  test('code cannot call without end', async () => {
    const codeExecutor = executor({
      loop: async ({ callTool }) => {
        for (;;) await callTool?.('add', { a: 1, b: 1 })
      },
    })
    const told = await play({ agent: { codeExecutor }, tools: [addTool], steps: [code('loop'), 'done'] })
    expect(results(told.events)).toMatchObject([{ outcome: 'OUTCOME_FAILED', output: expect.stringContaining('256') }])
    expect(told.responses).toHaveLength(256) // the executor was tried again, and got the recorded answers
  })

  test('control that a tool moves in code moves when the code is done', async () => {
    const codeExecutor = executor({
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

  test('a tool that waits pauses the code, which goes on when it is answered', async () => {
    const ask = vi.fn(() => ({ status: 'asked' }))
    const askTool = longRunning(tool({ name: 'ask', description: 'Ask', run: ask }))
    const added = vi.fn(({ a, b }: { a: number; b: number }) => ({ sum: a + b }))
    const add = tool({
      name: 'add',
      description: 'Add',
      parameters: z.object({ a: z.number(), b: z.number() }),
      run: added,
    })
    const codeExecutor = executor({
      both: async ({ callTool }) => {
        const first = await callTool?.('add', { a: 1, b: 2 })
        const answer = await callTool?.('ask', {})
        return ok(`${first?.sum} ${answer?.said}`)
      },
    })
    const { runner } = stage({ agent: { codeExecutor }, tools: [add, askTool], steps: [code('both'), 'done'] })
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

  test('a model cannot name a call of its own so that it passes for one that code makes', async () => {
    const pay = vi.fn(() => ({ paid: true }))
    const payTool = tool({ name: 'pay', description: 'Pay', run: pay })
    const codeExecutor = executor({ pay: async ({ callTool }) => ok(JSON.stringify(await callTool?.('pay', {}))) })
    const parts: Part[] = [
      { executableCode: { id: 'x', language: 'javascript', code: 'pay' } },
      { functionCall: { id: 'x.1', name: 'pay', args: {} } },
    ]
    const told = await play({ agent: { codeExecutor }, tools: [payTool], steps: [{ parts }, 'done'] })
    expect(pay).toHaveBeenCalledTimes(2) // once for each who called it
    expect(told.responses).toHaveLength(2)
    expect(new Set(told.responses.map(({ id }) => id)).size).toBe(2)
  })

  test('code and a call of one id are told apart, and each is run once', async () => {
    const pay = vi.fn(() => ({ paid: true }))
    const payTool = tool({ name: 'pay', description: 'Pay', run: pay })
    const codeExecutor = executor({ six: () => ok('6') })
    const parts: Part[] = [
      { functionCall: { id: 'x', name: 'pay', args: {} } },
      { executableCode: { id: 'x', language: 'javascript', code: 'six' } },
      { executableCode: { id: 'x', language: 'javascript', code: 'six' } },
    ]
    const told = await play({ agent: { codeExecutor }, tools: [payTool], steps: [{ parts }, 'done'] })
    expect(told.text).toBe('done')
    expect(pay).toHaveBeenCalledOnce()
    expect(codeExecutor.runs).toHaveLength(2)
    expect(results(told.events)).toHaveLength(2)
  })

  test('code that does something else when it is run again is told so', async () => {
    let runs = 0
    const codeExecutor = executor({
      other: async ({ callTool }) => ok(JSON.stringify(await callTool?.('add', { a: ++runs, b: 0 }).catch(String))),
    })
    const { events } = await crashAndResume({ codeExecutor, tools: [addTool], first: 'other', dieAt: 5 })
    expect(results(events)[0]?.output).toContain('was run again after a pause')
  })
})

describe('files', () => {
  test('artifacts are files, and what code writes becomes artifacts', async () => {
    const artifactService = new InMemoryArtifactService()
    const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
    await artifactService.saveArtifact({ ...key, filename: 'in.csv', artifact: { text: 'a,b' } })
    await artifactService.saveArtifact({
      ...key,
      filename: 'user:dir/pic.png',
      artifact: { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    })
    const codeExecutor = executor({
      copy: ({ files = [] }) => ({
        outcome: 'OK',
        output: files.map(({ name, data }) => `${name}=${data}`).join(' '),
        files: [
          { name: 'in.csv', mimeType: 'text/csv', data: 'QSxC' },
          { name: '../user:evil.txt', data: 'AAAA' },
        ],
      }),
    })
    const { runner } = stage({ agent: { codeExecutor }, runner: { artifactService }, steps: [code('copy'), 'done'] })
    const { events } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'go' })
    expect(results(events)[0]?.output).toContain('in.csv=YSxi')
    expect(results(events)[0]?.output).toContain('dir_pic.png=AAAA')
    const saved = events.find(({ actions }) => actions.artifactDelta)?.actions.artifactDelta
    expect(saved).toEqual({ 'in.csv': 1, '.._user_evil.txt': 0 })
    expect(await artifactService.loadArtifact({ ...key, filename: 'in.csv' })).toMatchObject({
      inlineData: { data: 'QSxC' },
    })
  })

  test('without an artifact service code has no files, and what it writes is said to be lost', async () => {
    const codeExecutor = executor({
      write: () => ({ outcome: 'OK', output: '', files: [{ name: 'a.txt', data: 'AAAA' }] }),
    })
    const told = await play({ agent: { codeExecutor }, steps: [code('write'), 'done'] })
    expect(codeExecutor.runs[0]?.files).toBeUndefined()
    expect(results(told.events)[0]?.output).toContain('a.txt')
    expect(results(told.events)[0]?.output).toContain('lost')
  })
})

/** Runs until the process dies at its n-th append, then goes on in another; what the log holds in the end. */
async function crashAndResume(story: {
  readonly codeExecutor: CodeExecutor
  readonly tools?: LlmAgentOptions['tools']
  readonly first: string
  readonly dieAt: number
}): Promise<{ events: readonly Event[] }> {
  const key = { userId: 'ada', sessionId: 's1' }
  const sessionService = new InMemorySessionService()
  let appends = 0
  const dying: SessionService = new Proxy<SessionService>(sessionService, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function' || member !== 'append')
        return value instanceof Function ? value.bind(target) : value
      return async (...args: unknown[]) => {
        if (++appends >= story.dieAt) throw new Error('died')
        return await value.apply(target, args)
      }
    },
  })
  const make = (service: SessionService): Runner => {
    const step: Step = ({ contents }) => (contents.at(-1)?.role === 'tool' ? 'done' : code(story.first))
    const model = scriptedModel([step, step, step])
    const agent = new LlmAgent({ name: 'agent', model, codeExecutor: story.codeExecutor, tools: story.tools })
    return new Runner({ appName: 'app', agent, sessionService: service, logger: quiet })
  }
  await make(dying)
    .complete({ ...key, message: 'go' })
    .catch(() => {})
  expect(appends).toBeGreaterThanOrEqual(story.dieAt)
  for await (const _ of make(sessionService).resume(key));
  const session = await sessionService.getSession({ appName: 'app', ...key })
  return { events: session?.events ?? [] }
}
