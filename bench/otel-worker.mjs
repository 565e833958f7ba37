// S1 (fresh session, one tool call, final text) without observers, with otel() and no SDK, and with an SDK whose exporter does nothing;
// and the same four spans by hand. Prints one JSON line.
// usage: node otel-worker.mjs
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { LlmAgent, Runner, tool } from 'toolwright'
import { otel } from 'toolwright/otel'

const ROUNDS = 40
const TURNS = 400
const userId = 'u'
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

const model = {
  name: 'scripted',
  provider: 'openai',
  async *generate({ contents }) {
    const isAnswered = contents.at(-1).role === 'tool'
    const call = { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Paris' } } }
    const usageMetadata = { promptTokenCount: 120, candidatesTokenCount: 12 }
    yield {
      content: { role: 'model', parts: [isAnswered ? { text: 'Sunny.' } : call] },
      finishReason: 'STOP',
      usageMetadata,
    }
  },
}
const getWeather = tool({
  name: 'get_weather',
  description: 'Weather for a city',
  effect: 'none',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: async ({ city }) => ({ city, temp: 21 }),
})
const agent = new LlmAgent({ name: 'bench', model, tools: [getWeather] })
const plain = new Runner({ appName: 'plain', agent })
const traced = new Runner({ appName: 'traced', agent, observers: [otel()] })

/** A turn whose spans the program makes itself, with as many attributes. */
const tracer = trace.getTracer('by-hand')
async function byHand() {
  const ids = { 'gen_ai.agent.name': 'bench', 'gen_ai.conversation.id': 's', 'session.id': 's' }
  const root = tracer.startSpan('invoke_agent bench', {
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'toolwright.invocation.id': 'e', ...ids },
  })
  const inside = trace.setSpan(context.active(), root)
  const turn = context.with(inside, async () => {
    const spans = [
      [
        'chat scripted',
        { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'scripted' },
      ],
      [
        'execute_tool get_weather',
        {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'get_weather',
          'gen_ai.tool.call.id': 'c1',
          'gen_ai.tool.type': 'function',
          'gen_ai.tool.description': 'Weather for a city',
        },
      ],
      [
        'chat scripted',
        { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'scripted' },
      ],
    ]
    for (const [name, attributes] of spans) {
      const span = tracer.startSpan(name, { kind: 2, attributes: { ...attributes, ...ids } }, inside)
      await context.with(trace.setSpan(inside, span), async () => {})
      span.setAttributes({
        'toolwright.outcome': 'completed',
        'gen_ai.usage.input_tokens': 120,
        'gen_ai.usage.output_tokens': 12,
        'gen_ai.response.finish_reasons': ['STOP'],
      })
      span.end()
    }
    return await turnOf(plain)
  })
  await turn
  root.setAttributes({
    'toolwright.outcome': 'completed',
    'gen_ai.usage.input_tokens': 240,
    'gen_ai.usage.output_tokens': 24,
  })
  root.end()
}

async function turnOf(runner) {
  const { sessionId } = await runner.complete({ userId, message: 'Weather?' })
  await runner.sessionService.deleteSession({ appName: runner.appName, userId, sessionId })
}

/** The microseconds of one turn of each program, the programs in turn. */
async function measure(programs) {
  const samples = programs.map(() => [])
  for (let round = -5; round < ROUNDS; round++) {
    const order = [...programs.keys()]
    if (round % 2) order.reverse() // no program always runs first
    for (const at of order) {
      const start = performance.now()
      for (let turn = 0; turn < TURNS; turn++) await programs[at]()
      if (round >= 0) samples[at].push(((performance.now() - start) / TURNS) * 1_000)
    }
  }
  return samples.map(median)
}

const [withoutObserver, withoutSdk] = await measure([() => turnOf(plain), () => turnOf(traced)])

const exporter = { export: (_, done) => done({ code: 0 }), shutdown: async () => {}, forceFlush: async () => {} }
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 100_000 })] })
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const [hand, sdk] = await measure([byHand, () => turnOf(traced)])
await provider.shutdown()

console.log(`RESULT ${JSON.stringify({ withoutObserver, withoutSdk, hand, sdk })}`)
