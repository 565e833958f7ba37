// A process that does one part of a conversation, traced by an SDK that exports to a collector.
import { appendFileSync } from 'node:fs'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { approve, LlmAgent, Runner, tool } from 'toolwright'
import { otel } from 'toolwright/otel'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'
import { silentLogger } from './kit.ts'

/** What the process does. */
export interface OtelChild {
  /** The database. */
  readonly file: string
  /** The bodies that ran, one line each. */
  readonly ledger: string
  /** The collector. */
  readonly url: string
  /** Its part: ask until the pause, approve and hang in the body, or recover. */
  readonly part: 'ask' | 'approve' | 'recover'
}

/** The session. */
export const where = { userId: 'ada', sessionId: 's1' }

const { file, ledger, url, part }: OtelChild = JSON.parse(process.argv[2] ?? '{}')
const exporter = new OTLPTraceExporter({ url })
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(provider)

const pay = tool({
  name: 'pay',
  description: 'Pays',
  effect: 'idempotent',
  requiresConfirmation: true,
  run: async () => {
    appendFileSync(ledger, `${part}\n`)
    if (part !== 'approve') return { paid: true }
    process.send?.('in the body')
    return await new Promise<never>(() => setInterval(() => {}, 1_000))
  },
})
const services = sqlite(file, { leaseMs: 1_000 })
const model = scriptedModel(part === 'ask' ? [{ calls: [{ name: 'pay' }] }] : ['Paid.'])
const agent = new LlmAgent({ name: 'desk', model, tools: [pay] })
const runner = new Runner({ appName: 'shop', agent, observers: [otel()], logger: silentLogger, ...services })

if (part === 'ask') await runner.complete({ ...where, message: 'Pay.' })
else if (part === 'approve') {
  const pending = await runner.pending(where)
  await runner.complete({ ...where, message: pending.map((request) => approve(request)) })
} else for await (const event of runner.resume(where)) void event
await provider.forceFlush()
await runner.close()
services.close()
