// Return values of callbacks. A callback that denies in an unexpected shape must not let the call or the run continue.
import {
  type Content,
  concurrency,
  filterTools,
  InMemorySessionService,
  type LlmAgentOptions,
  type LlmResponse,
  type Plugin,
  rateLimit,
  retry,
  StaticToolset,
  type Tool,
  toolSource,
} from 'toolwright'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startProcess } from './approvals-kit.ts'
import { createDeferred, createScenario, plainTool, recordingLogger, runScenario } from './kit.ts'
import { hangInBody, LEASE_MS, resumeSession } from './lease-kit.ts'

const unexpected: [what: string, value: unknown][] = [
  ['an object with an error', { error: 'denied' }],
  ['a text', 'denied'],
  ['false', false],
  ['true', true],
  ['null', null],
  ['a list', []],
  ['an empty object', {}],
  ['a function', () => ({ result: 1 })],
]

describe('the runner, for beforeTool,', () => {
  const moreUnexpected: [string, unknown][] = [
    ...unexpected,
    ['arguments beside a result', { args: {}, result: 1 }],
    ['arguments beside something else', { args: {}, reason: 'no' }],
    ['a result beside something else', { result: 1, denied: true }],
    ['arguments that are a text', { args: 'go' }],
    ['arguments that are undefined', { args: undefined }],
    ['arguments that are a list', { args: [] }],
  ]
  test.each(moreUnexpected)('denies the call when a callback returns %s', async (_what, value) => {
    const ran = vi.fn()
    const logger = recordingLogger()
    const { response, text } = await runScenario({
      tools: [plainTool('pay', ran)],
      calls: [{ name: 'pay' }],
      agent: { beforeTool: () => value as never },
      runner: { logger },
    })
    expect(ran).not.toHaveBeenCalled()
    expect(response).toEqual({
      error: 'Tool "pay" was not run: a beforeTool callback returned an unexpected value.',
      errorCode: 'CANCELLED',
    })
    expect(text).toBe('done')
    expect(logger.lines).toHaveLength(1)
    expect(logger.lines[0]).toMatch(/^A beforeTool callback returned .* for tool "pay" of agent "agent"/)
    expect(logger.lines[0]).not.toContain('denied"') // keys only, never their values
  })

  test("denies the call when a plugin returns an unexpected value and the agent's callback allows the call", async () => {
    const ran = vi.fn()
    const guard: Plugin = { name: 'guard', beforeTool: () => ({ error: 'denied' }) as never }
    const { response } = await runScenario({
      tools: [plainTool('pay', ran)],
      calls: [{ name: 'pay' }],
      agent: { beforeTool: () => undefined },
      runner: { plugins: [guard] },
    })
    expect(ran).not.toHaveBeenCalled()
    expect(response.errorCode).toBe('CANCELLED')
  })

  test.each<[string, unknown, object]>([
    ['undefined', undefined, { got: { n: 1 } }],
    ['arguments', { args: { n: 2 } }, { got: { n: 2 } }],
    ['arguments and an undefined result', { args: { n: 2 }, result: undefined }, { got: { n: 2 } }],
    ['a result', { result: { cached: true } }, { cached: true }],
    ['a result and undefined arguments', { result: { cached: true }, args: undefined }, { cached: true }],
    ['a result that is false', { result: false }, { result: false }],
  ])('runs or answers the call when a callback returns %s', async (_what, value, expected) => {
    const { response } = await runScenario({
      tools: [plainTool('pay', (args) => ({ got: args }))],
      calls: [{ name: 'pay', args: { n: 1 } }],
      agent: { beforeTool: async () => value as never },
    })
    expect(response).toEqual(expected)
  })
})

describe('the runner, for afterTool and onToolError,', () => {
  test('withholds the result, says that the call has run, and logs an error when afterTool returns null', async () => {
    const logger = recordingLogger()
    const { response } = await runScenario({
      tools: [plainTool('read', () => ({ secret: 'hidden' }))],
      calls: [{ name: 'read' }],
      agent: { afterTool: () => null },
      runner: { logger },
    })
    expect(response).toMatchObject({ errorCode: 'INVALID_RESULT', error: expect.stringContaining('do not repeat it') })
    expect(JSON.stringify(response)).not.toContain('hidden')
    expect(logger.lines[0]).toContain('An afterTool callback returned null for tool "read"')
  })

  test('returns the error of the tool and logs an error when onToolError returns null', async () => {
    const logger = recordingLogger()
    const failing = plainTool('pay', () => {
      throw new Error('no money')
    })
    const { response } = await runScenario({
      tools: [failing],
      calls: [{ name: 'pay' }],
      agent: { onToolError: () => null },
      runner: { logger },
    })
    expect(response).toEqual({ error: 'no money', errorCode: 'EXECUTION_FAILED' })
    expect(logger.lines[0]).toContain('An onToolError callback returned null for tool "pay"')
  })

  test('replaces the result or the error with the returned value, including false and 0', async () => {
    for (const result of [{ ok: true }, false, 0]) {
      const expected = typeof result === 'object' ? result : { result }
      const after = await runScenario({
        tools: [plainTool('read', () => 1)],
        calls: [{ name: 'read' }],
        agent: { afterTool: () => result },
      })
      expect(after.response).toEqual(expected)
      const failing = plainTool('read', () => {
        throw new Error('broken')
      })
      const saved = await runScenario({
        tools: [failing],
        calls: [{ name: 'read' }],
        agent: { onToolError: () => result },
      })
      expect(saved.response).toEqual(expected)
    }
  })
})

describe('the runner, for agent and model callbacks,', () => {
  const content: Content = { role: 'model', parts: [{ text: 'from the callback' }] }
  const brokenContents: [string, unknown][] = [
    ['a content without parts', { role: 'model' }],
    ['a content whose parts are no list', { role: 'model', parts: 'hello' }],
    ['a content with a part that is a text', { role: 'model', parts: ['hello'] }],
  ]
  const failing = { steps: [{ error: 'offline' }] }
  const hooks: [hook: keyof LlmAgentOptions, story: { steps?: { error: string }[] }, good: unknown][] = [
    ['beforeAgent', {}, content],
    ['afterAgent', {}, content],
    ['beforeModel', {}, { content }],
    ['afterModel', {}, { content }],
    ['onModelError', failing, { content }],
  ]
  const cases = hooks.flatMap(([hook, story]) => {
    const isOfModel = hook === 'beforeModel' || hook === 'afterModel' || hook === 'onModelError'
    const broken = brokenContents.map(([what, value]): [string, unknown] => [
      what,
      isOfModel ? { content: value } : value,
    ])
    return [...unexpected, ...broken].map(([what, value]) => [hook, what, value, story] as const)
  })

  test.each(cases)(
    'ends the agent with an error that names the callback when %s returns %s',
    async (hook, _what, value, story) => {
      const result = await runScenario({ steps: ['hello'], ...story, agent: { [hook]: () => value } })
      expect(result.error).toMatchObject({ code: 'AGENT_ERROR' })
      expect(result.error?.message).toContain(`${hook} callback of agent "agent" returned`)
      expect(result.error?.message).toContain('Return nothing (undefined) or')
      expect(result.error?.message).not.toContain('denied"')
      if (hook === 'beforeAgent' || hook === 'beforeModel') expect(result.model.requests).toEqual([])
    },
  )

  test.each(hooks)('uses the valid return value of %s', async (hook, story, good) => {
    const result = await runScenario({ steps: ['hello'], ...story, agent: { [hook]: async () => good } })
    expect(result.error).toBeUndefined()
    expect(result.text).toBe('from the callback')
  })

  test.each(hooks)('changes nothing when %s returns undefined', async (hook, story) => {
    const result = await runScenario({ steps: ['hello'], ...story, agent: { [hook]: () => undefined } })
    if (hook === 'onModelError') expect(result.error).toEqual({ code: 'MODEL_ERROR', message: 'offline' })
    else expect(result.text).toBe('hello')
  })

  test('accepts an error response from beforeModel and a copy of an empty response from afterModel', async () => {
    const refused = await runScenario({
      steps: [],
      agent: { beforeModel: () => ({ errorCode: 'SAFETY', errorMessage: 'refused' }) },
    })
    expect(refused.error).toEqual({ code: 'SAFETY', message: 'refused' })
    const copied = await runScenario({
      steps: [{ response: { finishReason: 'STOP' } }],
      agent: { afterModel: ({ response }) => ({ ...response }) },
    })
    expect(copied.error).toBeUndefined()
  })

  test.each<[string, unknown]>([
    ['a text', 'hello'],
    ['null', null],
    ['content without parts', { content: { role: 'model' } }],
  ])('records MODEL_ERROR when a model yields %s', async (_what, value) => {
    const model = {
      name: 'odd',
      async *generate() {
        yield value as LlmResponse
      },
    }
    const result = await runScenario({ agent: { model } })
    expect(result.error).toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringMatching(/Model "odd" yielded .* instead of a response/),
    })
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an object', { text: 'Be brief.' }],
  ])('ends the agent without a model call when an instruction function returns %s', async (...one) => {
    const result = await runScenario({ steps: ['hello'], agent: { instruction: () => one[1] as string } })
    expect(result.error).toMatchObject({ code: 'AGENT_ERROR' })
    expect(result.error?.message).toContain('instruction function of agent "agent" returned')
    expect(result.model.requests).toEqual([])
  })

  test('accepts an empty text from an instruction function', async () => {
    const result = await runScenario({ steps: ['hello'], agent: { instruction: async () => '' } })
    expect(result.text).toBe('hello')
  })
})

describe('the runner, for plugin hooks,', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'redacted'],
    ['an event whose content is a text', { content: 'redacted' }],
  ])('ends the run and does not store the event when onEvent returns %s', async (_what, value) => {
    const plugin: Plugin = {
      name: 'redactor',
      onEvent: ({ event }) => (event.content?.parts[0]?.text === 'secret' ? (value as never) : undefined),
    }
    const result = await runScenario({ steps: ['secret'], runner: { plugins: [plugin] } })
    expect(result.error).toMatchObject({ code: 'AGENT_ERROR' })
    expect(result.error?.message).toContain('Plugin "redactor": onEvent returned')
    const stored = await result.runner.sessionService.getSession({
      appName: 'app',
      userId: 'ada',
      sessionId: result.sessionId,
    })
    expect(JSON.stringify(stored)).not.toContain('secret')
  })

  test.each<[string, unknown]>([
    ['false', false],
    ['a content', { role: 'model', parts: [{ text: 'no' }] }],
    ['an error', { error: 'denied' }],
  ])('fails the run when beforeRun returns %s', async (_what, value) => {
    const { runner, model } = createScenario({
      steps: ['hello'],
      runner: { plugins: [{ name: 'guard', beforeRun: () => value as never }] },
    })
    const outcome = await runner.complete({ userId: 'ada', message: 'go' }).catch((error) => ({ error }))
    expect(String(outcome.error?.message)).toContain('Plugin "guard": beforeRun returned')
    expect(model.requests).toEqual([])
  })

  test('ignores a number that a beforeRun arrow function returns by accident', async () => {
    const seen: unknown[] = []
    const plugins: Plugin[] = [{ name: 'watch', beforeRun: ({ message }) => seen.push(message) as never }]
    expect((await runScenario({ steps: ['hello'], runner: { plugins } })).text).toBe('hello')
    expect(seen).toHaveLength(1)
  })
})

describe('the runner, for functions of tools and policies,', () => {
  let rejections: unknown[] = []
  const note = (reason: unknown): void => void rejections.push(reason)
  beforeEach(() => {
    rejections = []
    process.on('unhandledRejection', note)
  })
  afterEach(() => void process.off('unhandledRejection', note))
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

  test.each<[string, () => unknown]>([
    ['throws', () => expect.unreachable()],
    ['returns a text', () => 'yes'],
    ['returns a promise of true', async () => true],
    ['returns a promise that rejects', () => Promise.reject(new Error('no'))],
  ])('leaves a tool out when the filter %s', async (_what, filter) => {
    const set = filterTools(new StaticToolset([plainTool('wipe', () => 1)]), filter as never)
    expect(await set.listTools({} as never)).toEqual([])
    await settle()
    expect(rejections).toEqual([])
  })

  test('uses the default hint when confirmationHint returns a rejected promise, without an unhandled rejection', async () => {
    const pay = plainTool('pay', () => 1, {
      requiresConfirmation: true,
      confirmationHint: (() => Promise.reject(new Error('no'))) as never,
    })
    const { runner } = createScenario({ tools: [pay], calls: [{ name: 'pay' }] })
    const { pending } = await runner.complete({ userId: 'ada', message: 'go' })
    expect(pending[0]?.hint).toBe('Approve execution of tool `pay`?')
    await settle()
    expect(rejections).toEqual([])
  })

  test.each<[string, (key: () => string) => Tool]>([
    [
      'rateLimit',
      (key) =>
        rateLimit(
          plainTool('pay', () => 'paid'),
          { max: 1, perMs: 60_000, key },
        ),
    ],
    [
      'concurrency',
      (key) =>
        concurrency(
          plainTool('pay', () => 'paid'),
          { max: 1, key },
        ),
    ],
  ])('fails the call when key of %s() returns no string, and runs it when key returns one', async (policy, make) => {
    for (const key of [undefined, null, {}, Promise.resolve('ada')]) {
      const { response } = await runScenario({ tools: [make(() => key as never)], calls: [{ name: 'pay' }] })
      expect(response.error).toContain(`${policy}() of tool "pay": key must return a string, got`)
    }
    const { response } = await runScenario({ tools: [make(() => 'ada')], calls: [{ name: 'pay' }] })
    expect(response).toEqual({ result: 'paid' })
  })

  test.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['true', () => true],
    ['neither a value nor issues', () => ({ ok: true })],
    ['a promise of undefined', async () => undefined],
    ['a promise of neither a value nor issues', async () => ({ ok: true })],
  ])('answers INVALID_ARGS without running the body when parse returns %s', async (_what, parse) => {
    const ran = vi.fn()
    const { response } = await runScenario({
      tools: [plainTool('pay', ran, { parse: parse as never })],
      calls: [{ name: 'pay' }],
    })
    expect(ran).not.toHaveBeenCalled()
    expect(response).toMatchObject({ errorCode: 'INVALID_ARGS' })
  })

  test('runs the body when parse returns a value, including undefined', async () => {
    for (const value of [{ n: 1 }, undefined]) {
      const pay = plainTool('pay', (args) => ({ got: args ?? null }), { parse: () => ({ value }) })
      const { response } = await runScenario({ tools: [pay], calls: [{ name: 'pay' }] })
      expect(response).toEqual({ got: value ?? null })
    }
  })

  test('fails the call when requestInput has a misspelled option', async () => {
    const asking = plainTool('ask', (_args, context) =>
      context.requestInput({ key: 'k', message: 'Age?', shema: {} } as never),
    )
    const { response } = await runScenario({ tools: [asking], calls: [{ name: 'ask' }] })
    expect(response.error).toContain('requestInput(): unknown option "shema". Did you mean "schema"?')
  })

  const reconciled: [what: string, found: unknown, isKnown: boolean][] = [
    ['done without a result', { status: 'done' }, false],
    ['an unknown status', { status: 'finished', result: 1 }, false],
    ['a text', 'done', false],
    ['true', true, false],
    ['done with a result', { status: 'done', result: { paid: true } }, true],
  ]
  test.each(reconciled)(
    'uses the result of reconcile during retry() only when it is valid: %s',
    async (_what, found, isKnown) => {
      const ran = vi.fn(() => {
        throw new Error('lost')
      })
      const pay = plainTool('pay', ran, { effect: 'reconcilable', reconcile: () => found as never })
      const { response } = await runScenario({
        tools: [retry(pay, { attempts: 3, delayMs: 0 })],
        calls: [{ name: 'pay' }],
      })
      expect(ran).toHaveBeenCalledTimes(1)
      if (isKnown) expect(response).toEqual({ paid: true })
      else expect(response).toEqual({ error: 'lost', errorCode: 'EXECUTION_FAILED' })
    },
  )

  test.each(reconciled)(
    'uses the result of reconcile after a crash only when it is valid: %s',
    async (_what, found, isKnown) => {
      const clock = { time: 0 }
      const store = new InMemorySessionService({ now: () => clock.time })
      const reconcile = () => found as never
      await hangInBody(store, (run) => plainTool('work', run, { effect: 'reconcilable', reconcile }), [
        { calls: [{ name: 'work', id: 'c1' }] },
      ])
      clock.time += LEASE_MS
      const ran = vi.fn()
      const logger = recordingLogger()
      const work = plainTool('work', ran, { effect: 'reconcilable', reconcile })
      const { runner } = startProcess(store, { tools: [work], steps: ['done'], runner: { logger } })
      expect(await resumeSession(runner)).toBe('done')
      expect(ran).not.toHaveBeenCalled()
      const session = await store.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
      const log = JSON.stringify(session?.events)
      expect(log.includes('UNKNOWN_OUTCOME')).toBe(!isKnown)
      expect(logger.lines.join()).toMatch(isKnown ? /^$/ : /reconcile of tool "work" returned/)
    },
  )
})

describe('runner.cancel()', () => {
  const never = (): Promise<never> => new Promise(() => {})
  test.each<
    [string, (hang: () => Promise<never>) => { agent?: Partial<LlmAgentOptions>; tools?: LlmAgentOptions['tools'] }]
  >([
    ['beforeAgent', (beforeAgent) => ({ agent: { beforeAgent } })],
    ['afterAgent', (afterAgent) => ({ agent: { afterAgent } })],
    ['beforeModel', (beforeModel) => ({ agent: { beforeModel } })],
    ['afterModel', (afterModel) => ({ agent: { afterModel } })],
    ['instruction function', (instruction) => ({ agent: { instruction } })],
    ['tool source', (hang) => ({ tools: [toolSource(hang)] })],
  ])('ends a run whose %s never settles', { timeout: 20_000 }, async (_what, make) => {
    const begun = createDeferred()
    const { runner } = createScenario({
      steps: ['hello'],
      ...make(() => {
        begun.resolve()
        return never()
      }),
    })
    const run = runner.run({ userId: 'ada', message: 'go', runConfig: { detach: true } })
    await begun.promise
    await run.cancel()
    const events = []
    for await (const event of run) events.push(event)
    expect(events.at(-1)).toMatchObject({ errorCode: 'CANCELLED' })
  })
})
