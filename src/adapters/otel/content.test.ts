import { agentTool, approve, InMemoryArtifactService, LlmAgent, type Model, Runner, ToolError, tool } from 'toolwright'
import { type OtelOptions, otel } from 'toolwright/otel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { METRICS, unknownAttributes } from './conventions.test-kit.ts'
import { registerSdk } from './exported.test-kit.ts'

/** Texts that must not be exported, by where they are. */
const CANARIES = [
  'message',
  'instruction',
  'argument',
  'argumentKey',
  'result',
  'resultKey',
  'error',
  'toolError',
  'cause',
  'stack',
  'hint',
  'payload',
  'state',
  'fileName',
  'reply',
  'thought',
  'unknownTool',
  'unknownArgument',
  'code',
  'finish',
  'modelError',
  'progress',
  'agentRequest',
].map((name) => `canary_${name}`)
const canary = (name: string): string => {
  const text = `canary_${name}`
  if (!CANARIES.includes(text)) throw new Error(`There is no canary "${name}".`)
  return text
}

const logger = { warn: () => {}, error: () => {} }
const noParameters = { type: 'object', additionalProperties: true } as const

/** A conversation that has a canary in everything that is content. */
async function converse(options: OtelOptions = {}): Promise<void> {
  const replies = [
    {
      calls: [{ name: 'look', args: { [canary('argumentKey')]: canary('argument') } }],
      text: canary('reply'),
      thought: canary('thought'),
    },
    {
      calls: [
        { name: 'fail' },
        { name: 'refuse' },
        { name: canary('unknownTool'), args: { a: canary('unknownArgument') } },
      ],
    },
    { calls: [{ name: 'own' }, { name: 'helper', args: { request: canary('agentRequest') } }] },
    { text: 'Helped.' },
    { calls: [{ name: 'pay' }] },
    { text: canary('reply') },
  ]
  let at = 0
  const model: Model = {
    name: 'm',
    provider: 'openai',
    async *generate() {
      const {
        text,
        calls = [],
        thought,
      } = replies[at++] as { text?: string; calls?: { name: string; args?: object }[]; thought?: string }
      const parts = [
        ...(thought ? [{ text: thought, thought: true }] : []),
        ...(text ? [{ text }] : []),
        ...calls.map(({ name, args = {} }) => ({ functionCall: { name, args: args as Record<string, unknown> } })),
      ]
      yield { content: { role: 'model', parts }, usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } }
    },
  }
  const body = { description: 'A tool', effect: 'none', parameters: noParameters } as const
  const look = tool({
    ...body,
    name: 'look',
    run: async (_, context) => {
      context.state.set('key', canary('state'))
      context.progress({ text: canary('progress') })
      await context.saveArtifact(canary('fileName'), { text: 'x' })
      return { [canary('resultKey')]: canary('result') }
    },
  })
  const fail = tool({
    ...body,
    name: 'fail',
    run: () => {
      const error = new Error(canary('error'), { cause: new Error(canary('cause')) })
      error.stack = canary('stack')
      throw error
    },
  })
  const refuse = tool({
    ...body,
    name: 'refuse',
    run: () => {
      throw new ToolError(canary('toolError'))
    },
  })
  const own = tool({ ...body, name: 'own', run: () => ({ error: 'x', errorCode: canary('code') }) })
  const pay = tool({
    ...body,
    name: 'pay',
    requiresConfirmation: true,
    confirmationHint: () => canary('hint'),
    run: () => ({ paid: true }),
  })
  const helper = new LlmAgent({ name: 'helper', description: 'Helps', model })
  const agent = new LlmAgent({
    name: 'desk',
    model,
    instruction: canary('instruction'),
    tools: [look, fail, refuse, own, pay, agentTool(helper)],
  })
  const artifactService = new InMemoryArtifactService()
  const runner = new Runner({ appName: 'app', agent, artifactService, observers: [otel(options)], logger })
  const { pending, sessionId } = await runner.complete({ userId: 'ada', message: canary('message') })
  const { text } = await runner.complete({
    userId: 'ada',
    sessionId,
    message: pending.map((one) => approve(one, { payload: canary('payload') })),
  })
  expect(text).toBe(canary('reply'))

  const down: Model = {
    name: 'down',
    // biome-ignore lint/correctness/useYield: it throws
    async *generate() {
      throw new Error(canary('modelError'))
    },
  }
  const broken = new Runner({
    appName: 'app',
    agent: new LlmAgent({ name: 'broken', model: down }),
    observers: [otel(options)],
    logger,
  })
  await broken.complete({ userId: 'ada', message: 'Go' })
}

afterEach(() => vi.unstubAllEnvs())

test('exports no content by default', async () => {
  const { text, spans } = registerSdk()
  await converse()
  const exported = await text()
  expect(CANARIES.filter((one) => exported.includes(one))).toEqual([])
  expect(CANARIES.length).toBeGreaterThanOrEqual(20)
  expect(spans().length).toBeGreaterThan(10)
  expect(spans().flatMap(({ events }) => events)).toEqual([])
})

test.each([
  ['captureContent', { captureContent: true }, undefined],
  ['the environment variable', {}, 'true'],
  ['SPAN_ONLY', {}, 'span_only'],
])('exports messages, arguments, results and error texts with %s', async (_, options, variable) => {
  if (variable) vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', variable)
  const { text } = registerSdk()
  await converse(options)
  const exported = await text()
  const wanted = [
    'message',
    'instruction',
    'argument',
    'result',
    'error',
    'toolError',
    'reply',
    'thought',
    'modelError',
    'agentRequest',
  ]
  expect(wanted.filter((name) => !exported.includes(canary(name)))).toEqual([])
})

test.each(['NO_CONTENT', 'EVENT_ONLY', 'false', ''])(
  'exports no content with the environment variable %j',
  async (value) => {
    vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', value)
    const { text } = registerSdk()
    await converse()
    const exported = await text()
    expect(CANARIES.filter((one) => exported.includes(one))).toEqual([])
  },
)

test('`captureContent: false` wins over the environment variable', async () => {
  vi.stubEnv('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'true')
  const { text } = registerSdk()
  await converse({ captureContent: false })
  const exported = await text()
  expect(CANARIES.filter((one) => exported.includes(one))).toEqual([])
})

describe('content that is exported', () => {
  async function exportedArguments(args: unknown, options: OtelOptions = {}, result: () => unknown = () => ({})) {
    const { span } = registerSdk()
    const look = tool({
      name: 'look',
      description: 'Looks',
      effect: 'none',
      parameters: noParameters,
      run: () => result() as object,
    })
    const agent = new LlmAgent({
      name: 'desk',
      tools: [look],
      model: {
        name: 'm',
        async *generate({ contents }) {
          const isFirst = contents.length === 1
          const parts = isFirst
            ? [{ functionCall: { name: 'look', args: args as Record<string, unknown> } }]
            : [{ text: 'Ok.' }]
          yield { content: { role: 'model', parts } }
        },
      },
    })
    const runner = new Runner({
      appName: 'app',
      agent,
      observers: [otel({ captureContent: true, ...options })],
      logger,
    })
    const { text } = await runner.complete({ userId: 'ada', message: 'Go' })
    expect(text).toBe('Ok.')
    return span('execute_tool look').attributes
  }

  test('is cut at 8 kB a value, between characters', async () => {
    const attributes = await exportedArguments({ text: '€'.repeat(50_000) }, {}, () => ({ text: 'y'.repeat(100_000) }))
    for (const name of ['gen_ai.tool.call.arguments', 'gen_ai.tool.call.result']) {
      const value = String(attributes[name])
      expect(Buffer.byteLength(value)).toBeLessThanOrEqual(8_192)
      expect(Buffer.byteLength(value)).toBeGreaterThan(8_000)
      expect(value.isWellFormed()).toBe(true)
    }
  })

  test('goes through redact, which may change what it gets', async () => {
    const redact = (content: unknown): unknown => {
      const copy = content as { card?: string }
      if (copy.card) copy.card = '***'
      return copy
    }
    const attributes = await exportedArguments({ card: '4242' }, { redact })
    expect(attributes['gen_ai.tool.call.arguments']).toBe('{"card":"***"}')
  })

  test('is left out when redact throws', async () => {
    const attributes = await exportedArguments(
      { card: '4242' },
      {
        redact: () => {
          throw new Error('no')
        },
      },
    )
    expect(attributes['gen_ai.tool.call.arguments']).toBeUndefined()
    expect(attributes['gen_ai.tool.name']).toBe('look')
  })

  test('may be cyclic', async () => {
    const cyclic: Record<string, unknown> = { ok: 1 }
    cyclic.self = cyclic
    const attributes = await exportedArguments({}, { redact: () => cyclic }, () => cyclic)
    expect(String(attributes['gen_ai.tool.call.result'])).toContain('"ok":1')
  })

  test('may throw when it is read', async () => {
    const throwing = Object.defineProperty({ ok: 1 }, 'bad', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    const others = await exportedArguments({}, { redact: () => throwing }, () => throwing)
    expect(others['gen_ai.tool.name']).toBe('look')
  })
})

test('exports only attributes and metrics that the conventions define, or that are ours', async () => {
  const { spans, metricNames, points } = registerSdk()
  await converse({ captureContent: true, captureUserId: true })
  expect(spans().flatMap(({ attributes }) => unknownAttributes(attributes))).toEqual([])
  const names = await metricNames()
  expect(names.filter((name) => !METRICS.includes(name))).toEqual([])
  for (const name of names) {
    const all = await points(name.split(' ')[0] ?? '')
    expect(all.flatMap(({ attributes }) => unknownAttributes(attributes))).toEqual([])
  }
  expect(unknownAttributes({ 'gen_ai.system': 'x', 'gen_ai.usage.input_tokens': '3' })).toEqual([
    'gen_ai.system is unknown',
    'gen_ai.usage.input_tokens is not of type int',
  ])
})

describe('metrics', () => {
  test('measure model calls, tokens, tools, agents, approvals and appends', async () => {
    const { metricNames, points } = registerSdk()
    await converse()
    const names = await metricNames()
    expect(METRICS.filter((name) => !names.includes(name)).sort()).toEqual([
      'toolwright.inbox.age s',
      'toolwright.lease.takeovers {takeover}',
      'toolwright.recovery.duration s',
    ])
    const approvals = await points('toolwright.approval.wait')
    expect(approvals.map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.tool.name': 'pay', 'toolwright.outcome': 'completed' },
    ])
    const tokens = await points('gen_ai.client.token.usage')
    expect(tokens.map(({ attributes }) => attributes['gen_ai.token.type']).sort()).toEqual(['input', 'output'])
  })

  test('have at most 200 tool names', async () => {
    const { points } = registerSdk()
    const tools = Array.from({ length: 210 }, (_, at) =>
      tool({ name: `tool_${at}`, description: 'A tool', effect: 'none', run: () => ({}) }),
    )
    let at = 0
    const model: Model = {
      name: 'm',
      async *generate() {
        const calls = tools.slice(at, at + 100).map(({ name }) => ({ functionCall: { name, args: {} } }))
        at += 100
        yield { content: { role: 'model', parts: calls.length ? calls : [{ text: 'Ok.' }] } }
      },
    }
    const agent = new LlmAgent({ name: 'desk', model, tools })
    await new Runner({ appName: 'app', agent, observers: [otel()] }).complete({ userId: 'ada', message: 'Go' })
    const names = (await points('gen_ai.execute_tool.duration')).map(({ attributes }) => attributes['gen_ai.tool.name'])
    expect(names).toHaveLength(201)
    expect(names).toContain('_OTHER')
  })
})
