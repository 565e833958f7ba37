// The settings of docs/guides/observe.md for backends: what the programs of the page send with them, and where.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { metrics, trace } from '@opentelemetry/api'
import { LlmAgent, Runner } from 'toolwright'
import { otel } from 'toolwright/otel'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readPageFile } from '../docs/pages.ts'

const { text, blocks } = readPageFile('docs/guides/observe.md')

/** The shell lines below the name of a backend. */
function settingsOf(backend: string): string {
  const [, settings] = new RegExp(`\\*\\*${backend}\\*\\*[^\`]*\`\`\`sh\\n([^\`]*)\`\`\``).exec(text) ?? []
  return settings ?? ''
}

/** What the settings put into the environment. Nothing else of them is run. */
function environmentOf(settings: string): Record<string, string> {
  const lines = settings.split('\n').filter((line) => !line.startsWith('docker '))
  const env = { PATH: process.env.PATH, PUBLIC_KEY: 'pk-lf-1', SECRET_KEY: `sk-lf-${'2?>'.repeat(30)}` }
  const printed = execFileSync('sh', ['-euc', `${lines.join('\n')}\nenv`], { env, encoding: 'utf8' })
  return Object.fromEntries(
    [...printed.matchAll(/^(OTEL_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

interface Sent {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function startCollector(): Promise<{ readonly origin: string; readonly sent: Sent[] }> {
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      sent.push({ path: request.url, headers: request.headers, body })
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

interface Telemetry {
  readonly provider: { shutdown(): Promise<void> }
  readonly reader: { shutdown(): Promise<void> }
}

/** The programs of the page that send traces and metrics, as a module. */
async function importPrograms(): Promise<Telemetry> {
  const folder = mkdtempSync(resolve('test', '.observe-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const programs = blocks.filter(
    ({ code }) => /exporter-trace-otlp|exporter-metrics-otlp/.test(code) && /^import/.test(code),
  )
  expect(programs).toHaveLength(2)
  writeFileSync(
    join(folder, 'programs.ts'),
    `${programs.map(({ code }) => code).join('')}export { provider, reader }\n`,
  )
  return await import(pathToFileURL(join(folder, 'programs.ts')).href)
}

const basic = (credential: string): string => `Basic ${Buffer.from(credential).toString('base64')}`

test.each([
  ['Jaeger', 'http://127.0.0.1:4318', '', {}],
  [
    'Langfuse',
    'https://cloud.langfuse.com',
    '/api/public/otel',
    { authorization: basic(`pk-lf-1:sk-lf-${'2?>'.repeat(30)}`), 'x-langfuse-ingestion-version': '4' },
  ],
  ['Phoenix', 'http://127.0.0.1:6006', '', {}],
  ['Grafana', 'http://127.0.0.1:4318', '', {}],
])('the settings for %s send protobuf to %s%s with their headers', async (backend, origin, path, headers) => {
  const settings = settingsOf(backend)
  const env = environmentOf(settings)
  expect(env.OTEL_EXPORTER_OTLP_ENDPOINT).toBe(`${origin}${path}`)
  if (origin.startsWith('http:'))
    expect(settings).toContain(`-p ${origin.replace(/^http:../, '')}:${new URL(origin).port}`)
  const collector = await startCollector()
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value.replace(origin, collector.origin))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    trace.disable()
    metrics.disable()
  })
  const { provider, reader } = await importPrograms()
  const agent = new LlmAgent({ name: 'desk', model: scriptedModel(['Hi.']) })
  await new Runner({ appName: 'shop', agent, observers: [otel()] }).complete({ userId: 'ada', message: 'Go' })
  await provider.shutdown()
  await reader.shutdown()
  const [traces, figures] = collector.sent
  expect(traces).toMatchObject({
    path: `${path}/v1/traces`,
    headers: { 'content-type': 'application/x-protobuf', ...headers },
  })
  expect(traces?.body).toContain('invoke_agent desk')
  expect(figures).toMatchObject({ path: `${path}/v1/metrics`, headers })
  expect(figures?.body).toContain('gen_ai.client.operation.duration')
})

test('each program and each setting of the page for a backend has at most eight lines', () => {
  const [, section = ''] = text.split('## Send traces to a backend')
  const [part = ''] = section.split('\n## ')
  const lengths = [...part.matchAll(/```\w+\n([^`]*)```/g)].map(([, code = '']) => code.trim().split('\n').length)
  expect(lengths).toHaveLength(7)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(8)
})
