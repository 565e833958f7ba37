// Options that pass the type checker through a spread or JavaScript: unknown names and values of the wrong type.
import {
  agentTool,
  approve,
  cached,
  concurrency,
  confirm,
  deny,
  discoveryEngineSearch,
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  type PendingRequest,
  type Plugin,
  preloadMemory,
  Runner,
  rateLimit,
  redact,
  retry,
  SequentialAgent,
  StaticToolset,
  type Tool,
  type ToolwrightError,
  tool,
  toolSource,
  vertexAiSearch,
} from 'toolwright'
import { aiSdkProviderTool, fromAiSdk, fromAiSdkTools, toAiSdkTools } from 'toolwright/ai-sdk'
import { docker, isolatedProcess, quickjs, unisolatedLocalProcess } from 'toolwright/code'
import { gemini } from 'toolwright/gemini'
import { sqlite } from 'toolwright/sqlite'
import { createToolContext, geminiServer, offlineModel, scriptedModel } from 'toolwright/testing'
import { describe, expect, test, vi } from 'vitest'
import { plainTool, recordingLogger, runScenario, silentLogger } from './kit.ts'

const read = plainTool('read', () => 1)
const model = scriptedModel([])
const leaf = (): LlmAgent => new LlmAgent({ name: 'leaf', model })
const runner = (): Runner => new Runner({ appName: 'app', agent: leaf(), logger: silentLogger })
const dataStoreId = 'projects/p/locations/global/collections/c/dataStores/d'
const request: PendingRequest = {
  id: 'r1',
  kind: 'confirmation',
  userId: 'ada',
  sessionId: 's1',
  invocationId: 'e-1',
  functionCallId: 'c1',
  tool: 'pay',
  args: {},
  agent: 'leaf',
}
const aiSdkModel = { specificationVersion: 'v4', provider: 'p', modelId: 'm', doGenerate: () => {}, doStream: () => {} }

/** A function that takes options, valid options, and a misspelled option with the correct name. */
type Case = [what: string, make: (options: never) => unknown, good: object, wrong: object, meant: string]

const whenBuilt: Case[] = [
  [
    'tool()',
    tool,
    { name: 'pay', description: 'Pays', run: () => 1, requiresConfirmation: true },
    { requireConfirmation: true },
    'requiresConfirmation',
  ],
  ['LlmAgent', (o) => new LlmAgent(o), { name: 'a', model, beforeTool: [] }, { beforeTools: () => {} }, 'beforeTool'],
  [
    'LlmAgent with an ADK name',
    (o) => new LlmAgent(o),
    { name: 'a', model },
    { beforeToolCallback: () => {} },
    'beforeTool',
  ],
  [
    'toolExecution',
    (toolExecution) => new LlmAgent({ name: 'a', model, toolExecution }),
    { parallel: false, maxConcurrency: 2 },
    { paralel: false },
    'parallel',
  ],
  [
    'SequentialAgent',
    (o) => new SequentialAgent({ ...(o as object), name: 'a', subAgents: [leaf()] }),
    { description: 'd' },
    { descripton: 'd' },
    'description',
  ],
  [
    'ParallelAgent',
    (o) => new ParallelAgent({ ...(o as object), name: 'a', subAgents: [leaf()] }),
    { description: 'd' },
    { subAgent: [] },
    'subAgents',
  ],
  [
    'LoopAgent',
    (o) => new LoopAgent({ ...(o as object), name: 'a', subAgents: [leaf()], maxIterations: 2 }),
    { description: 'd' },
    { maxIteration: 1 },
    'maxIterations',
  ],
  [
    'Runner',
    (o) => new Runner({ ...(o as object), appName: 'app', agent: leaf() }),
    { whilePaused: 'reject', plugins: [] },
    { plugin: [] },
    'plugins',
  ],
  [
    'ports of a Runner',
    (ports) => new Runner({ appName: 'app', agent: leaf(), ports }),
    { now: () => 0 },
    { nwo: () => 0 },
    'now',
  ],
  ['agentTool()', (o) => agentTool(leaf(), o), { includePlugins: false }, { includePlugin: false }, 'includePlugins'],
  ['confirm()', (o) => confirm(read, o), { hint: 'Sure?' }, { wen: () => true }, 'when'],
  ['cached()', (o) => cached(read, o), { ttlMs: 5 }, { ttl: 5 }, 'ttlMs'],
  ['ports of cached()', (o) => cached(read, {}, o), { now: () => 0 }, { now2: () => 0 }, 'now'],
  ['retry()', (o) => retry(read, { ...(o as object), attempts: 2 }), { delayMs: 1 }, { maxDelay: 1 }, 'maxDelayMs'],
  ['rateLimit()', (o) => rateLimit(read, { ...(o as object), max: 2, perMs: 5 }), {}, { keys: () => '' }, 'key'],
  ['concurrency()', (o) => concurrency(read, { ...(o as object), max: 2 }), {}, { mx: 1 }, 'max'],
  ['redact()', (o) => redact(read, o), { result: ['a'] }, { results: ['a'] }, 'result'],
  ['StaticToolset', (o) => new StaticToolset([], o), { name: 'n' }, { nmae: 'n' }, 'name'],
  ['toolSource()', (o) => toolSource(() => [], o), { name: 'n' }, { naem: 'n' }, 'name'],
  ['preloadMemory()', preloadMemory, { maxEntries: 1 }, { maxEntry: 1 }, 'maxEntries'],
  ['vertexAiSearch()', vertexAiSearch, { dataStoreId }, { maxResult: 1 }, 'maxResults'],
  ['discoveryEngineSearch()', discoveryEngineSearch, { dataStoreId }, { filters: '' }, 'filter'],
  ['InMemorySessionService', (o) => new InMemorySessionService(o), { leaseMs: 5_000 }, { lease: 5 }, 'leaseMs'],
  ['InMemoryArtifactService', (o) => new InMemoryArtifactService(o), { now: () => 0 }, { nov: () => 0 }, 'now'],
  ['sqlite()', (o) => sqlite(':memory:', o).close(), { leaseMs: 5_000 }, { synchronus: 'full' }, 'synchronous'],
  ['gemini()', (o) => gemini('gemini-2.5-flash', o), { apiKey: 'k' }, { timeout: 5 }, 'timeoutMs'],
  ['retry of gemini()', (retry) => gemini('g', { apiKey: 'k', retry }), { attempts: 1 }, { atempts: 1 }, 'attempts'],
  ['fromAiSdk()', (o) => fromAiSdk(aiSdkModel as never, o), { maxRetries: 0 }, { maxRetry: 0 }, 'maxRetries'],
  ['fromAiSdkTools()', (o) => fromAiSdkTools({}, o), {}, { withoutExecutes: 'refuse' }, 'withoutExecute'],
  [
    'aiSdkProviderTool()',
    (o) => aiSdkProviderTool({ type: 'provider', id: 'p.search' }, o),
    { name: 'n' },
    { nam: 'n' },
    'name',
  ],
  [
    'toAiSdkTools()',
    (o) => toAiSdkTools([read], { ...(o as object), userId: 'ada' }),
    { sessionId: 's' },
    { acceptAiSdkApprovals: true },
    'acceptAiSdkApproval',
  ],
  ['quickjs()', quickjs, { timeoutMs: 5 }, { requireConfirmation: true }, 'requiresConfirmation'],
  [
    'isolatedProcess()',
    (o) => isolatedProcess({ ...(o as object), languages: ['python'] }),
    { memoryBytes: 1e9 },
    { memoryByte: 1e9 },
    'memoryBytes',
  ],
  [
    'docker()',
    (o) => docker({ ...(o as object), image: 'python', languages: ['python'] }),
    { cpus: 1 },
    { cpu: 1 },
    'cpus',
  ],
  [
    'unisolatedLocalProcess()',
    (o) => unisolatedLocalProcess({ ...(o as object), iAcceptHostAccess: true, languages: ['bash'] }),
    { timeoutMs: 5 },
    { timeOut: 5 },
    'timeoutMs',
  ],
  ['scriptedModel()', (o) => scriptedModel([], o), { name: 'n' }, { capability: {} }, 'capabilities'],
  ['a step of scriptedModel()', (o) => scriptedModel([o]), { calls: [] }, { call: [] }, 'calls'],
  ['a call of scriptedModel()', (o) => scriptedModel([{ calls: [o] }]), { name: 'pay', args: {} }, { arg: {} }, 'args'],
  ['offlineModel()', offlineModel, { name: 'n' }, { nwo: () => 0 }, 'now'],
  ['createToolContext()', createToolContext, { state: {} }, { stat: {} }, 'state'],
]

const where = { userId: 'ada', sessionId: 's1' }
const whenCalled: Case[] = [
  ['runner.run()', (o) => runner().run(o), { ...where, message: 'hi' }, { statedelta: {} }, 'stateDelta'],
  ['runner.complete()', (o) => runner().complete(o), { userId: 'ada', message: 'hi' }, { sesionId: 's' }, 'sessionId'],
  [
    'runConfig',
    (runConfig) => runner().run({ userId: 'ada', message: 'hi', runConfig }),
    { maxLlmCalls: 1 },
    { maxLLMCall: 1 },
    'maxLlmCalls',
  ],
  ['runner.resume()', (o) => runner().resume(o), where, { invocatonId: 'e' }, 'invocationId'],
  ['runner.cancel()', (o) => runner().cancel(o), where, { invocationID: 'e' }, 'invocationId'],
  ['runner.pending()', (o) => runner().pending(o), { userId: 'ada' }, { userID: 'ada' }, 'userId'],
  ['approve()', (o) => approve(request, o), { args: { n: 1 } }, { arg: {} }, 'args'],
  ['deny()', (o) => deny(request, o), { reason: 'no' }, { reasons: 'no' }, 'reason'],
  ['geminiServer()', async (o) => (await geminiServer([], o)).close(), { apiKey: 'k' }, { apikey: 'k' }, 'apiKey'],
]

async function errorOf(make: () => unknown): Promise<ToolwrightError | undefined> {
  try {
    await make()
    return undefined
  } catch (error) {
    return error as ToolwrightError
  }
}

describe('unknown options', () => {
  test.each(whenBuilt)(
    'an unknown option of %s is rejected when it is built, with the closest name in the message',
    async (...one) => {
      const [, make, good, wrong, meant] = one
      const [option] = Object.keys(wrong)
      const error = await errorOf(() => make({ ...good, ...wrong } as never))
      expect(error).toMatchObject({ name: 'ToolwrightError', code: 'INVALID_CONFIG' })
      expect(error?.message).toContain(`unknown option "${option}". Did you mean "${meant}"?`)
      const unset = await errorOf(() => make({ ...good, [String(option)]: undefined } as never))
      expect(unset?.message).toContain(`unknown option "${option}"`)
    },
  )

  test.each(whenBuilt)('is not reported for valid options of %s', async (_what, make, good) => {
    expect(await errorOf(() => make(good as never))).toBeUndefined()
  })

  test.each(whenCalled)(
    'an unknown option of %s is rejected when it is called, with the closest name in the message',
    async (...one) => {
      const [what, make, good, wrong, meant] = one
      const error = await errorOf(() => make({ ...good, ...wrong } as never))
      expect(error).toMatchObject({ code: what === 'geminiServer()' ? 'INVALID_CONFIG' : 'INVALID_REQUEST' })
      expect(error?.message).toContain(`unknown option "${Object.keys(wrong)[0]}". Did you mean "${meant}"?`)
    },
  )

  test.each(whenCalled)('is not reported for a valid call of %s', async (what, make, good) => {
    const error = await errorOf(() => make(good as never))
    if (what === 'runner.complete()') expect(error).toBeUndefined()
    expect(error?.message ?? '').not.toContain('unknown option')
  })

  test.each<[string, (options: never) => unknown, object, string, string]>([
    ['tool() of the AI SDK', tool, { name: 'a', description: 'd' }, 'execute', 'run'],
    ['tool() of the AI SDK', tool, { name: 'a', description: 'd', run: () => 1 }, 'inputSchema', 'parameters'],
    ['tool()', tool, { name: 'a', description: 'd', run: () => 1 }, 'needsApproval', 'requiresConfirmation'],
    ['LlmAgent', (o) => new LlmAgent(o), { name: 'a', model }, 'system', 'instruction'],
    ['LlmAgent', (o) => new LlmAgent(o), { name: 'a', model }, 'handoffs', 'subAgents'],
    ['LlmAgent', (o) => new LlmAgent(o), { name: 'a', model }, 'outputType', 'outputSchema'],
    ['LlmAgent', (o) => new LlmAgent(o), { name: 'a', model }, 'prompt', 'instruction'],
    ['runner.complete()', (o) => runner().complete(o), { userId: 'ada' }, 'prompt', 'message'],
    ['runner.complete()', (o) => runner().complete(o), { userId: 'ada', message: 'Hi' }, 'context', 'runContext'],
  ])(
    'an option of another framework in %s is rejected, with the name of the Toolwright option in the message',
    async (_, make, good, foreign, meant) => {
      const error = await errorOf(() => make({ ...good, [foreign]: () => 1 } as never))
      expect(error?.message).toContain(`unknown option "${foreign}". Did you mean "${meant}"?`)
    },
  )

  test('is not reported for inputSchema of an agent', () => {
    const inputSchema = { type: 'object' } as const
    expect(new LlmAgent({ name: 'a', model, inputSchema }).input).toBeDefined()
  })

  test('without a similar name is rejected with the list of options', () => {
    expect(() => cached(read, { zzzzzz: 1 } as never)).toThrow('The options are "ttlMs", "maxEntries" and "scope".')
  })
})

describe('the check of options', () => {
  test('rejects a runner without an appName', () => {
    expect(() => new Runner({ agent: leaf() } as never)).toThrow(/Runner: appName is missing/)
  })

  test.each([
    ['an LlmAgent', leaf()],
    ['a workflow agent', new SequentialAgent({ name: 'leaf', subAgents: [new LlmAgent({ name: 'inner', model })] })],
  ])('rejects %s in tools and suggests agentTool()', (_, agent) => {
    const tools = [agent] as never[]
    expect(() => new LlmAgent({ name: 'a', model, tools })).toThrow(/contain the agent "leaf"\. Use agentTool\(leaf\)/)
    expect(() => new LlmAgent({ name: 'a', model, tools: [agentTool(agent)] })).not.toThrow()
  })

  test('rejects a record of tools and suggests a list', () => {
    const tools = { read } as never
    expect(() => new LlmAgent({ name: 'a', model, tools })).toThrow(/tools must be a list.*tools: \[first, second\]/)
  })

  test('names complete() in the message when its options are a string', async () => {
    const error = await errorOf(() => runner().complete('Hi' as never))
    expect(error?.message).toMatch(/^runner\.complete\(\) takes an object with options, got a string/)
  })

  test('rejects an AI SDK tool in tools and suggests fromAiSdkTools()', () => {
    const tools = [{ description: 'd', inputSchema: {}, execute: () => 1 }] as never[]
    expect(() => new LlmAgent({ name: 'a', model, tools })).toThrow(/Use tool\(.*fromAiSdkTools/)
  })

  test('rejects a provider function as model and suggests fromAiSdk()', () => {
    expect(() => new LlmAgent({ name: 'a', model: (() => aiSdkModel) as never })).toThrow(/got a function.*fromAiSdk/)
  })

  test('rejects a message that is a single part and suggests a list', async () => {
    const error = await errorOf(() => runner().complete({ userId: 'ada', message: { text: 'Hi' } as never }))
    expect(error?.message).toMatch(/got an object with the key text\. Put the part into a list: message: \[part\]/)
  })

  test.each([null, 'fast', 7, []])('rejects %j as options of a Runner', (options) => {
    expect(() => new Runner(options as never)).toThrow(/Runner takes an object with options, got/)
  })

  test('rejects a tool with a misspelled requiresConfirmation', async () => {
    const pay = vi.fn()
    const options = { name: 'pay', description: 'Pays', run: pay, ...{ requireConfirmation: true } }
    expect(() => tool(options)).toThrow('Did you mean "requiresConfirmation"?')
  })

  test('rejects a denial with the option confirmed', () => {
    expect(() => deny(request, { confirmed: true } as never)).toThrow('unknown option "confirmed"')
    expect(deny(request, { reason: 'no' }).functionResponse?.response).toEqual({ confirmed: false, reason: 'no' })
  })
})

describe('options that are class instances', () => {
  class Payment {
    readonly name = 'pay'
    readonly description = 'Pays'
    readonly #ran: string[]
    constructor(ran: string[]) {
      this.#ran = ran
    }
    run(): void {
      this.#ran.push('ran')
    }
  }

  test('may define requiresConfirmation as a method and have methods that are not options', async () => {
    class Gated extends Payment {
      requiresConfirmation(): boolean {
        return true
      }
      describe(): string {
        return 'a payment'
      }
    }
    const ran: string[] = []
    const { responses } = await runScenario({ tools: [tool(new Gated(ran))], calls: [{ name: 'pay' }] })
    expect(ran).toEqual([])
    expect(responses).toEqual([])
  })

  test('are rejected when a method name resembles an option', () => {
    class Misspelled extends Payment {
      requireConfirmation(): boolean {
        return true
      }
    }
    expect(() => tool(new Misspelled([]))).toThrow('Did you mean "requiresConfirmation"?')
  })
})

test('a Runner accepts the services of sqlite() spread into its options', async () => {
  const services = sqlite(':memory:')
  const made = new Runner({ appName: 'app', agent: leaf(), ...services })
  expect(made.sessionService).toBe(services.sessionService)
  services.close()
})

test('runner.complete() accepts a spread session key of the same app only', async () => {
  const made = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'a', model: scriptedModel(['hello']) }) })
  const key = { appName: 'app', userId: 'ada', sessionId: 's1' }
  expect((await made.complete({ ...key, message: 'hi' })).text).toBe('hello')
  await expect(made.complete({ ...key, appName: 'other', message: 'hi' } as never)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('appName "other" is not the app of this runner'),
  })
})

describe('types of options', () => {
  const members: [member: string, wrong: unknown, good: unknown][] = [
    ['requiresConfirmation', 'yes', true],
    ['effect', 'atmostonce', 'idempotent'],
    ['timeoutMs', '5', 5],
    ['timeoutMs', Number.NaN, Number.POSITIVE_INFINITY],
    ['expiresInMs', Number.NaN, 1000],
    ['sequential', 'false', true],
    ['mayRepeat', 1, true],
    ['allowEditedArgs', 'no', true],
    ['isLongRunning', 'yes', true],
    ['authConfig', true, { authScheme: { type: 'apiKey', in: 'header', name: 'x' }, credentialKey: 'x' }],
    ['middleware', () => 1, []],
    ['reconcile', 'no', () => ({ status: 'unknown' })],
    ['processLlmRequest', {}, () => {}],
    ['confirmationHint', 7, () => 'Sure?'],
  ]
  test.each(members)(
    'a value of the wrong type of a tool is rejected when the tool or its agent is built: %s = %j',
    (member, wrong, good) => {
      const options = { name: 'pay', description: 'Pays', run: () => 1 }
      const agentWith = (more: object): unknown =>
        new LlmAgent({ name: 'a', model, tools: [plainTool('pay', () => 1, more)] })
      for (const make of [(more: object) => tool({ ...options, ...more }), agentWith]) {
        expect(() => make({ [member]: wrong })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
        expect(() => make({ [member]: wrong })).toThrow(`Tool "pay": ${member} must be`)
        expect(() => make({ [member]: good })).not.toThrow()
      }
    },
  )

  test('is rejected with the closest valid value', () => {
    const make = () => tool({ name: 'pay', description: 'Pays', run: () => 1, effect: 'atmostonce' as never })
    expect(make).toThrow('Did you mean "atMostOnce"?')
  })

  test('is rejected without showing a text, which may be a secret', () => {
    const make = () => new Runner({ appName: 'app', agent: leaf(), plugins: 'sk-secret' as never })
    expect(make).toThrow('Runner: plugins must be a list of plugins, got a string.')
  })

  test.each<[string, object]>([
    ['maxIterations', { maxIterations: Number.NaN }],
    ['model', { model: {} }],
    ['tools', { tools: 'all' }],
    ['subAgents', { subAgents: [() => {}] }],
    ['outputKey', { outputKey: 5 }],
    ['includeContents', { includeContents: 'nothing' }],
    ['disableTransfer', { disableTransfer: 'true' }],
    ['beforeTool', { beforeTool: ['no'] }],
    ['instruction', { instruction: 5 }],
    ['parallel', { toolExecution: { parallel: 'no' } }],
    ['maxConcurrency', { toolExecution: { maxConcurrency: '2' } }],
    ['requiresConfirmation', { codeExecutor: { languages: ['js'], execute: () => {}, requiresConfirmation: 'yes' } }],
    ['requireConfirmation', { codeExecutor: { languages: ['js'], execute: () => {}, requireConfirmation: true } }],
  ])('a value of the wrong type of an LlmAgent is rejected: %s', (option, wrong) => {
    const make = () => new LlmAgent({ name: 'a', model, ...wrong })
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    expect(make).toThrow(option)
  })

  test.each<[string, object]>([
    ['whilePaused', { whilePaused: 'rejct' }],
    ['plugins', { plugins: {} }],
    ['toolTimeoutMs', { toolTimeoutMs: '5' }],
    ['maxResultBytes', { maxResultBytes: Number.NaN }],
    ['logger', { logger: { warn: () => {} } }],
    ['agent', { agent: () => {} }],
    ['models', { models: { 'gemini-*': 'gemini' } }],
    ['sessionService', { sessionService: {} }],
    ['beforeTool', { plugins: [{ name: 'p', beforeTool: 'deny' }] }],
    ['now', { ports: { now: 5 } }],
  ])('a value of the wrong type of a Runner is rejected: %s', (option, wrong) => {
    const make = () => new Runner({ appName: 'app', agent: leaf(), ...wrong })
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    expect(make).toThrow(option)
  })

  test.each<[string, object]>([
    ['maxLlmCalls', { runConfig: { maxLlmCalls: Number.NaN } }],
    ['detach', { runConfig: { detach: 'yes' } }],
    ['stateDelta', { stateDelta: 'x' }],
    ['signal', { signal: {} }],
  ])('a value of the wrong type of a call is rejected: %s', async (option, wrong) => {
    const call = runner().complete({ userId: 'ada', message: 'hi', ...wrong })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringContaining(option) })
  })
})

describe('misspelled members', () => {
  test.each([
    'requireConfirmation',
    'requires_confirmation',
    'requiresConfirm',
    'confirmation',
    'needsApproval',
    'authconfig',
    'effects',
    'allowEditArgs',
    'longRunning',
    'timeout',
  ])('a misspelled member of a plain tool that would make the tool safer is rejected: %s', (member) => {
    const handWritten = plainTool('pay', () => 1, { [member]: true })
    const make = () => new LlmAgent({ name: 'a', model, tools: [confirm(handWritten)] })
    expect(make).toThrow(`has an unknown member "${member}". Did you mean`)
  })

  test('a misspelled member of a tool class is rejected, and members that resemble no option are accepted', () => {
    class Pay {
      readonly name = 'pay'
      readonly description = 'Pays'
      readonly currency = 'EUR'
      declaration(): { name: string; description: string } {
        return { name: 'pay', description: 'Pays' }
      }
      run(): string {
        return this.currency
      }
      format(): string {
        return this.currency
      }
    }
    class Misspelled extends Pay {
      requireConfirmation(): boolean {
        return true
      }
    }
    const agentWith = (one: Tool) => () => new LlmAgent({ name: 'a', model, tools: [one] })
    expect(agentWith(new Pay())).not.toThrow()
    expect(agentWith(new Misspelled())).toThrow('Did you mean "requiresConfirmation"?')
  })

  test('a misspelled member of a tool from a toolset leaves the tool out and logs the reason', async () => {
    const logger = recordingLogger()
    const ran = vi.fn()
    const pay = plainTool('pay', ran, { requireConfirmation: true } as Partial<Tool>)
    await runScenario({ tools: [new StaticToolset([pay])], calls: [{ name: 'pay' }], runner: { logger } })
    expect(ran).not.toHaveBeenCalled()
    expect(logger.lines[0]).toContain('Did you mean "requiresConfirmation"?')
  })

  test.each([
    ['beforeTools', 'beforeTool'],
    ['before_tool_callback', 'beforeTool'],
    ['beforToolCallback', 'beforeTool'],
    ['onevent', 'onEvent'],
    ['onUserMessage', 'beforeRun'],
  ])('a misspelled member of a plugin is rejected: %s', (hook, meant) => {
    const guard = { name: 'guard', [hook]: () => ({ result: 'denied' }) }
    const make = () => new Runner({ appName: 'app', agent: leaf(), plugins: [guard] })
    expect(make).toThrow(`Plugin "guard" has an unknown member "${hook}". Did you mean "${meant}"?`)
  })

  test('a misspelled hook of a plugin is not assumed for members that resemble no hook', () => {
    class Counter implements Plugin {
      readonly name = 'counter'
      readonly counts = new Map<string, number>()
      clone(): Counter {
        return new Counter()
      }
      beforeTool(): undefined {}
    }
    expect(() => new Runner({ appName: 'app', agent: leaf(), plugins: [new Counter()] })).not.toThrow()
  })
})

describe('the error message for', () => {
  const pauseForApproval = async () => {
    const steps = [{ calls: [{ name: 'pay' }] }, 'Paid.']
    const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => 1 })
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel(steps), tools: [pay] })
    const desk = new Runner({ appName: 'app', agent, logger: silentLogger })
    const { pending } = await desk.complete({ userId: 'ada', sessionId: 's1', message: 'Pay.' })
    return { desk, pending }
  }

  test('text during a pause suggests approve() and deny()', async () => {
    const { desk } = await pauseForApproval()
    const error = await errorOf(() => desk.complete({ userId: 'ada', sessionId: 's1', message: 'yes' }))
    expect(error).toMatchObject({
      code: 'PAUSED',
      message: expect.stringMatching(/waits for pay .*approve\(\), deny\(\)/),
    })
  })

  test('an approval without a session names sessionId, and for one with another session advises to check it', async () => {
    const { desk, pending } = await pauseForApproval()
    const message = pending.map((one) => approve(one))
    const without = await errorOf(() => desk.complete({ userId: 'ada', message }))
    expect(without?.message).toMatch(/^sessionId is required when answering a pending request/)
    const other = await errorOf(() => desk.complete({ userId: 'ada', sessionId: 's2', message }))
    expect(other).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('Check userId and sessionId') })
  })

  test('a denial after an approval says that the request has a different answer', async () => {
    const { desk, pending } = await pauseForApproval()
    const where = { userId: 'ada', sessionId: 's1' }
    const message = pending.map((one) => approve(one))
    expect((await desk.complete({ ...where, message })).text).toBe('Paid.')
    expect((await desk.complete({ ...where, message })).text).toBe('Paid.')
    const error = await errorOf(() => desk.complete({ ...where, message: pending.map((one) => deny(one)) }))
    expect(error?.message).toMatch(/already has a different answer/)
  })
})
