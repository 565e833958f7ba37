import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, ParentBasedSampler } from '@opentelemetry/sdk-trace'
import {
  approve,
  InMemorySessionService,
  LlmAgent,
  type Model,
  Runner,
  type RunnerOptions,
  respond,
  retry,
  ToolDispatcher,
  tool,
} from 'toolwright'
import { type OtelOptions, otel } from 'toolwright/otel'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import { idOf, parentOf, registerSdk, traceOf } from './exported.test-kit.ts'

const add = tool({ name: 'add', description: 'Adds', effect: 'none', run: () => ({ sum: 3 }) })
const pay = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, run: () => ({ paid: true }) })
const call = (name: string, args = {}) => ({ calls: [{ name, args }] })
const logger = { warn: () => {}, error: () => {} }

type Script = Parameters<typeof scriptedModel>[0]

function runnerOf(script: Script, { options, ...more }: Partial<RunnerOptions> & { options?: OtelOptions } = {}) {
  const agent = new LlmAgent({ name: 'desk', description: 'Helps', model: scriptedModel(script), tools: [add, pay] })
  return new Runner({ appName: 'app', agent, observers: [otel(options)], logger, ...more })
}

describe('spans', () => {
  test('a turn is one trace: the agent around its model calls and tools', async () => {
    const { spans, span } = registerSdk()
    await runnerOf([call('add'), 'Three.']).complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
    expect(spans().map(({ name, kind }) => [name, kind])).toEqual([
      ['chat scripted', SpanKind.CLIENT],
      ['execute_tool add', SpanKind.INTERNAL],
      ['chat scripted', SpanKind.CLIENT],
      ['invoke_agent desk', SpanKind.INTERNAL],
    ])
    const root = span('invoke_agent desk')
    expect(root.parentSpanContext).toBeUndefined()
    expect(spans().slice(0, 3).map(parentOf)).toEqual([idOf(root), idOf(root), idOf(root)])
    expect(root.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'desk',
      'gen_ai.agent.description': 'Helps',
      'gen_ai.conversation.id': 's1',
      'session.id': 's1',
      'toolwright.outcome': 'completed',
    })
    expect(span('execute_tool add').attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'add',
      'gen_ai.tool.type': 'function',
      'gen_ai.agent.name': 'desk',
      'toolwright.outcome': 'completed',
    })
    expect(root.instrumentationScope).toMatchObject({
      name: 'toolwright',
      schemaUrl: 'https://opentelemetry.io/schemas/1.41.0',
    })
  })

  test('a model call has its provider, settings and tokens', async () => {
    const { span } = registerSdk()
    const model: Model = {
      name: 'gemini-x',
      provider: 'gcp.gemini',
      async *generate() {
        const usageMetadata = {
          promptTokenCount: 100,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 2,
          cachedContentTokenCount: 60,
        }
        yield { content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', usageMetadata }
      },
    }
    const generateContentConfig = { temperature: 0.5, maxOutputTokens: 99, topP: 0.9, topK: 3 }
    const agent = new LlmAgent({ name: 'desk', model, generateContentConfig })
    await new Runner({ appName: 'app', agent, observers: [otel()] }).complete({ userId: 'ada', message: 'Go' })
    expect(span('generate_content gemini-x').attributes).toMatchObject({
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-x',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.top_k': 3,
      'gen_ai.response.finish_reasons': ['STOP'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.reasoning.output_tokens': 2,
    })
    expect(span('invoke_agent desk').attributes).toMatchObject({
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 7,
    })
  })

  test('spans made in a body are its children, also in parallel calls', async () => {
    const { spans } = registerSdk()
    const tracer = trace.getTracer('app')
    const inner = (name: string) =>
      tool({
        name,
        description: name,
        effect: 'none',
        run: async () => {
          await new Promise((resolve) => setImmediate(resolve))
          tracer.startSpan(`inside ${name}`).end()
          return {}
        },
      })
    const model = scriptedModel([{ calls: [{ name: 'one' }, { name: 'two' }] }, 'Done.'])
    const agent = new LlmAgent({ name: 'desk', model, tools: [inner('one'), inner('two')] })
    await new Runner({ appName: 'app', agent, observers: [otel()] }).complete({ userId: 'ada', message: 'Go' })
    for (const name of ['one', 'two']) {
      const body = spans().find((span) => span.name === `execute_tool ${name}`)
      const inside = spans().find((span) => span.name === `inside ${name}`)
      expect(inside && parentOf(inside)).toBe(body && idOf(body))
    }
  })

  test('spans keep their parents without a context manager', async () => {
    const { spans, span } = registerSdk()
    context.disable()
    await runnerOf([call('add'), 'Three.']).complete({ userId: 'ada', message: 'Go' })
    const root = idOf(span('invoke_agent desk'))
    expect(spans().slice(0, 3).map(parentOf)).toEqual([root, root, root])
  })

  test('the active span of the caller is the parent', async () => {
    const { span } = registerSdk()
    await trace.getTracer('app').startActiveSpan('request', async (request) => {
      await runnerOf(['Hi.']).complete({ userId: 'ada', message: 'Go' })
      request.end()
    })
    expect(parentOf(span('invoke_agent desk'))).toBe(idOf(span('request')))
  })

  test('only failed and unknown outcomes are errors, with our code and no message', async () => {
    const { spans } = registerSdk()
    const boom = tool({
      name: 'boom',
      description: 'Fails',
      effect: 'none',
      run: () => {
        throw new Error('secret')
      },
    })
    const own = tool({
      name: 'own',
      description: 'Fails',
      effect: 'none',
      run: () => ({ error: 'x', errorCode: 'CANARY' }),
    })
    const slow = tool({ name: 'slow', description: 'Slow', timeoutMs: 1, run: () => new Promise(() => {}) })
    const script = [call('boom'), call('slow'), call('own'), call('nothing'), call('pay'), 'Done.']
    const agent = new LlmAgent({ name: 'desk', model: scriptedModel(script), tools: [boom, slow, own, pay] })
    await new Runner({ appName: 'app', agent, observers: [otel()], logger }).complete({ userId: 'ada', message: 'Go' })
    const shown = spans()
      .filter(({ name }) => name.startsWith('execute_tool'))
      .map(({ name, status, attributes }) => [name, attributes['toolwright.outcome'], attributes['error.type'], status])
    expect(shown).toEqual([
      ['execute_tool boom', 'failed', 'EXECUTION_FAILED', { code: SpanStatusCode.ERROR }],
      ['execute_tool slow', 'unknown', 'TIMEOUT', { code: SpanStatusCode.ERROR }],
      ['execute_tool own', 'failed', '_OTHER', { code: SpanStatusCode.ERROR }],
      ['execute_tool _OTHER', 'failed', 'NOT_FOUND', { code: SpanStatusCode.ERROR }],
      ['execute_tool pay', 'paused', undefined, { code: SpanStatusCode.UNSET }],
    ])
  })

  test('each attempt of retry() has a span', async () => {
    const { spans } = registerSdk()
    let count = 0
    const flaky = tool({
      name: 'flaky',
      description: 'Fails once',
      effect: 'none',
      run: () => {
        if (count++ === 0) throw new Error('no')
        return {}
      },
    })
    const agent = new LlmAgent({
      name: 'desk',
      model: scriptedModel([call('flaky'), 'Ok.']),
      tools: [retry(flaky, { attempts: 2, delayMs: 0 })],
    })
    await new Runner({ appName: 'app', agent, observers: [otel()] }).complete({ userId: 'ada', message: 'Go' })
    const attempts = spans().filter(({ name }) => name === 'execute_tool flaky')
    expect(
      attempts.map(({ attributes }) => [attributes['toolwright.tool.attempt'], attributes['toolwright.outcome']]),
    ).toEqual([
      [1, 'failed'],
      [2, 'completed'],
    ])
  })

  test('single calls have the spans of a run', async () => {
    const { spans } = registerSdk()
    await new ToolDispatcher({ observers: [otel()] }).register(add).call('add')
    expect(spans().map(({ name }) => name)).toEqual(['execute_tool add', 'invoke_agent dispatcher'])
  })
})

describe('an invocation of several runs', () => {
  async function pauseAndApprove(options: OtelOptions = {}) {
    const sessionService = new InMemorySessionService()
    const first = runnerOf([call('pay')], { sessionService, options })
    const { pending, sessionId } = await first.complete({ userId: 'ada', message: 'Go' })
    const second = runnerOf(['Paid.'], { sessionService, options })
    await second.complete({ userId: 'ada', sessionId, message: pending.map((one) => approve(one)) })
    return { sessionService, sessionId }
  }

  test('is one trace, with links to the spans before the pause', async () => {
    const { spans } = registerSdk()
    await pauseAndApprove()
    const [firstRoot, secondRoot] = spans().filter(({ name }) => name === 'invoke_agent desk')
    const [before, after] = spans().filter(({ name }) => name === 'execute_tool pay')
    if (!firstRoot || !secondRoot || !before || !after) throw new Error('A span is missing.')
    expect(new Set(spans().map(traceOf)).size).toBe(1)
    expect(parentOf(secondRoot)).toBe(idOf(firstRoot))
    expect(secondRoot.links.map((link) => link.context.spanId)).toEqual([idOf(firstRoot)])
    expect(after.links.map((link) => link.context.spanId)).toEqual([idOf(before)])
    expect(parentOf(after)).toBe(idOf(secondRoot))
    expect([before, after].map(({ attributes }) => attributes['toolwright.outcome'])).toEqual(['paused', 'completed'])
  })

  test('is a trace per run with `traces: run`, linked', async () => {
    const { spans } = registerSdk()
    await pauseAndApprove({ traces: 'run' })
    const [firstRoot, secondRoot] = spans().filter(({ name }) => name === 'invoke_agent desk')
    if (!firstRoot || !secondRoot) throw new Error('A span is missing.')
    expect(traceOf(secondRoot)).not.toBe(traceOf(firstRoot))
    expect(secondRoot.parentSpanContext).toBeUndefined()
    expect(secondRoot.links.map((link) => link.context.spanId)).toEqual([idOf(firstRoot)])
  })

  test('keeps the sampling decision of its first run', async () => {
    const { spans } = registerSdk({ sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) })
    const { sessionService, sessionId } = await pauseAndApprove()
    expect(spans()).toEqual([])
    const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId })
    expect(session?.events[0]?.trace).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  })

  test('records its trace context with the message, in no further commit', async () => {
    registerSdk()
    const sessionService = new InMemorySessionService()
    await runnerOf(['Hi.'], { sessionService }).complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
    const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(session?.events.map((event) => event.trace !== undefined)).toEqual([true, false])
  })

  test('has no trace context without an SDK', async () => {
    const sessionService = new InMemorySessionService()
    await runnerOf(['Hi.'], { sessionService }).complete({ userId: 'ada', sessionId: 's1', message: 'Go' })
    const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(session?.events.map((event) => event.trace)).toEqual([undefined, undefined])
  })

  test('passes the trace context of its caller on without an SDK', async () => {
    const sessionService = new InMemorySessionService()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await runnerOf(['Hi.'], { sessionService }).complete({ userId: 'ada', sessionId: 's1', message: 'Go', traceparent })
    const session = await sessionService.getSession({ appName: 'app', userId: 'ada', sessionId: 's1' })
    expect(session?.events[0]?.trace).toBe(traceparent)
  })

  test('an SDK that is registered between two runs traces the second one', async () => {
    const runner = runnerOf(['Hi.', 'Hi.'])
    await runner.complete({ userId: 'ada', message: 'Go' })
    const { spans } = registerSdk()
    await runner.complete({ userId: 'ada', message: 'Go' })
    expect(spans().map(({ name }) => name)).toEqual(['chat scripted', 'invoke_agent desk'])
  })

  test('a traceparent of the caller is the parent of a new invocation; a malformed one is ignored', async () => {
    const { span } = registerSdk()
    const runner = runnerOf(['Hi.', 'Hi.'])
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await runner.complete({ userId: 'ada', message: 'Go', traceparent })
    expect(traceOf(span('invoke_agent desk'))).toBe('0af7651916cd43dd8448eb211c80319c')
    expect(parentOf(span('invoke_agent desk'))).toBe('b7ad6b7169203331')
    await runner.complete({ userId: 'ada', message: 'Go', traceparent: 'forged' })
    expect(span('invoke_agent desk').parentSpanContext).toBeUndefined()
  })

  test('a result that arrives later continues the trace', async () => {
    const { spans } = registerSdk()
    const order = tool({ name: 'order', description: 'Orders', isLongRunning: true, run: () => ({ ticket: 7 }) })
    const agent = new LlmAgent({
      name: 'desk',
      model: scriptedModel([call('order'), 'Wait.', 'Here.']),
      tools: [order],
    })
    const runner = new Runner({ appName: 'app', agent, observers: [otel()] })
    const { pending, sessionId } = await runner.complete({ userId: 'ada', message: 'Go' })
    await runner.complete({ userId: 'ada', sessionId, message: pending.map((one) => respond(one, { done: true })) })
    expect(new Set(spans().map(traceOf)).size).toBe(1)
    expect(spans().find(({ name }) => name === 'execute_tool order')?.attributes['toolwright.outcome']).toBe('paused')
  })
})
