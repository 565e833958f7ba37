// Connects, lists, calls and closes again and again, and prints what is left: npm run leaks -- 1000
import { readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { HostileHttpServer } from './hostile/http-server.ts'
import { callOnce, hostileHttp, hostileProcess, meet } from './hostile-kit.ts'

/** What a process holds. */
export interface Held {
  /** Processes that it has started. */
  readonly children: number
  /** Open files, pipes and sockets. */
  readonly files: number
  /** Timers, sockets and requests that keep it running. */
  readonly resources: number
  /** Listeners of events of the process. */
  readonly listeners: number
}

/** One kind of cycle. */
const CYCLES = {
  stdio: () => call(hostileProcess('honest')),
  'stdio, dies in the handshake': () => call(hostileProcess('exits-in-handshake')),
  'stdio, dies in the call': () => call(hostileProcess('exits-in-call')),
  http: () => withServer('http', call),
  'http, no session': () => withServer('http', (connection) => call({ ...connection, url: `${connection.url}/none` })),
  sse: () => withServer('sse', call),
  'http, aborted': () => withServer('http', abortCall, 'hangs-in-call'),
} as const

type Connection = Parameters<typeof callOnce>[0]['connection']

async function call(connection: Connection): Promise<void> {
  await callOnce({ connection, calls: [{ name: 'evil' }] })
}

async function abortCall(connection: Connection, server: HostileHttpServer): Promise<void> {
  await using meeting = meet({ connection, steps: [{ calls: [{ name: 'evil' }] }] })
  const abort = new AbortController()
  const running = meeting.runner.complete({ userId: 'ada', message: 'go', signal: abort.signal })
  while (server.memory.calls === 0) await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  await running.catch(() => {})
}

async function withServer(
  kind: 'http' | 'sse',
  run: (connection: { type: 'http' | 'sse'; url: string }, server: HostileHttpServer) => Promise<void>,
  behaviour = 'honest',
): Promise<void> {
  await using server = await hostileHttp(behaviour, { kind })
  await run(server.connection, server)
}

/** Runs every cycle `count` times. Returns what the process holds before and after. */
export async function runCycles(count: number): Promise<{ before: Held; after: Held }> {
  for (const cycle of Object.values(CYCLES)) await cycle() // loads modules, and opens what stays open
  const before = await settled()
  for (const cycle of Object.values(CYCLES)) for (let at = 0; at < count; at++) await cycle()
  return { before, after: await settled() }
}

/** What is held when nothing changes any more: sockets close a moment after their servers. */
async function settled(): Promise<Held> {
  let last = held()
  for (let same = 0; same < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const now = held()
    same = JSON.stringify(now) === JSON.stringify(last) ? same + 1 : 0
    last = now
  }
  return last
}

function held(): Held {
  const children = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const resources = process.getActiveResourcesInfo().length
  return { children: children.length, files: readdirSync('/proc/self/fd').length, resources, listeners }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { before, after } = await runCycles(Number(process.argv[2] ?? 1_000))
  console.log(JSON.stringify({ before, after }))
  if (JSON.stringify(before) !== JSON.stringify(after)) process.exitCode = 1
}
