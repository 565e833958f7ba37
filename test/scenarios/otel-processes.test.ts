// One invocation in three processes, of which the second is killed, is one trace at the collector.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { LlmAgent, Runner } from 'toolwright'
import { otel } from 'toolwright/otel'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkOtelStory, playOtelStory, type StorySpan } from './otel-story.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A span, as OTLP JSON has it. */
interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly links?: readonly { readonly spanId: string }[]
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
}

interface Scope {
  readonly schemaUrl?: string
  readonly spans: readonly OtlpSpan[]
}

/** A collector of OTLP JSON on this machine. */
async function startCollector(answer: (response: ServerResponse) => void = (response) => response.end('{}')) {
  const scopes: Scope[] = []
  let requests = 0
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      requests++
      const body: { resourceSpans: { scopeSpans: Scope[] }[] } = JSON.parse(text)
      scopes.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      response.setHeader('content-type', 'application/json')
      answer(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    scopes,
    requests: () => requests,
    spans: () => scopes.flatMap(({ spans }) => spans),
  }
}

const sdk2 = new URL('../otel-2/use.ts', import.meta.url).href

const toStorySpan = ({ traceId, spanId, parentSpanId, name, links = [], attributes }: OtlpSpan): StorySpan => ({
  traceId,
  spanId,
  parentSpanId,
  name,
  links: links.map((link) => link.spanId),
  outcome: attributes.find(({ key }) => key === 'toolwright.outcome')?.value.stringValue,
})

test.each([3, 2] as const)(
  'a pause, an approval in a process that is killed, and a recovery are one trace without orphans, with SDK %i',
  async (sdk) => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-otel-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const collector = await startCollector()
    await playOtelStory({ folder, url: collector.url, sdk: sdk === 2 ? sdk2 : undefined })
    checkOtelStory(collector.spans().map(toStorySpan))
    expect(new Set(collector.scopes.map(({ schemaUrl }) => schemaUrl))).toEqual(
      new Set(['https://opentelemetry.io/schemas/1.41.0']),
    )
  },
)

const troubles: [string, (response: ServerResponse) => void][] = [
  ['refuses', (response) => void response.writeHead(400).end()],
  ['fails', (response) => void response.writeHead(503, { 'retry-after': '60' }).end()],
  ['never answers', () => {}],
  ['breaks the connection off', (response) => void response.destroy()],
]
test.each(troubles)('a collector that %s neither breaks a run nor makes it wait', async (_, answer) => {
  const collector = await startCollector(answer)
  await runWith(collector.url)
  await vi.waitFor(() => expect(collector.requests()).toBeGreaterThan(0))
})

test('a collector that is down neither breaks a run nor makes it wait', async () => {
  const collector = createServer().listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo
  collector.close()
  await runWith(`http://127.0.0.1:${port}/v1/traces`)
})

/** Runs a turn while each span is exported at once, and a batch is waiting. */
async function runWith(url: string): Promise<void> {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: 2_000 })
  const batch = new BatchSpanProcessor({ exporter, maxQueueSize: 1, maxExportBatchSize: 1 })
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter }), batch] })
  trace.setGlobalTracerProvider(provider)
  onTestFinished(async () => {
    trace.disable()
    context.disable()
    await provider.shutdown().catch(() => {})
  })
  const exported = vi.spyOn(exporter, 'export')
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Hi.', 'Hi.']) })
  const logger = { warn: vi.fn(), error: vi.fn() }
  const runner = new Runner({ appName: 'shop', agent, observers: [otel()], logger })
  const { text, sessionId } = await runner.complete({ userId: 'ada', message: 'Go' })
  expect(text).toBe('Hi.')
  expect((await runner.complete({ userId: 'ada', sessionId, message: 'Go' })).text).toBe('Hi.')
  expect(exported).toHaveBeenCalled()
  expect(logger.warn).not.toHaveBeenCalled()
}
