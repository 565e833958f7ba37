// Rotel, a collector: started on this machine, and read by what it prints.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { StorySpan } from '../scenarios/otel-story.ts'

/** A collector that runs. */
export interface Rotel {
  /** Where it takes traces. */
  readonly url: string
  /** Stops it. Returns what it has printed. */
  stop(): Promise<string>
}

/** Starts the collector. It listens on loopback, and keeps nothing. `folder`: for its files. */
export async function startRotel(program: string, folder: string): Promise<Rotel> {
  const [http, grpc] = [await freePort(), await freePort()]
  const listen = ['--otlp-http-endpoint', `127.0.0.1:${http}`, '--otlp-grpc-endpoint', `127.0.0.1:${grpc}`]
  const print = ['--exporter', 'blackhole', '--debug-log', 'traces', '--debug-log-verbosity', 'detailed']
  const files = ['--pid-file', join(folder, 'rotel.pid'), '--log-file', join(folder, 'rotel.log')]
  const child = spawn(program, ['start', ...listen, ...print, ...files], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const exited = once(child, 'exit')
  while (!(await accepts(http))) {
    assert(child.exitCode === null, `The collector has ended: ${printed}`)
    await delay(50)
  }
  const stop = async (): Promise<string> => {
    await delay(1_000) // it prints what it has received a moment later
    child.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null], printed)
    return printed
  }
  return { url: `http://127.0.0.1:${http}/v1/traces`, stop }
}

/** The spans that the collector has printed, in the order of their ends. */
export function spansIn(printed: string): readonly StorySpan[] {
  const blocks = printed.split(/^Span #\d+$/m).slice(1)
  const member = (block: string, name: string): string =>
    new RegExp(`^ *${name} *: ?(.*)$`, 'm').exec(block)?.[1]?.trim() ?? ''
  return blocks
    .map((block) => ({
      endedAt: BigInt(member(block, 'End time') || 0),
      traceId: member(block, 'Trace ID'),
      spanId: member(block, 'ID'),
      parentSpanId: member(block, 'Parent ID') || undefined,
      name: member(block, 'Name'),
      links: [...block.matchAll(/^ *-> ID: (\w+)$/gm)].map(([, id = '']) => id),
      outcome: /^ *-> toolwright\.outcome: Str\((\w+)\)$/m.exec(block)?.[1],
    }))
    .sort((one, other) => Number(one.endedAt - other.endedAt))
}

/** The schemas of the instrumentation scopes that the collector has printed. */
export function schemasIn(printed: string): ReadonlySet<string> {
  return new Set([...printed.matchAll(/^ScopeSpans SchemaURL: (.*)$/gm)].map(([, url = '']) => url))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy()) as Promise<boolean>
}
