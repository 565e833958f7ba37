// What stories of killed processes share: a file, a world, victims, and this process as the one that goes on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Event, type JsonObject, type PendingRequest, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { afterAll, onTestFinished } from 'vitest'
import { finals } from '../approvals-kit.ts'
import { quiet } from '../kit.ts'
import { desk, type Story } from './desk.ts'
import { reachAt } from './outside.ts'
import { type Order, where } from './program.ts'
import { World } from './world.ts'

export interface Scene {
  readonly file: string
  readonly world: World
  /** Starts a process and kills it with SIGKILL when this has happened. */
  killed(what: Order['what'], when: Promise<unknown>): Promise<void>
  /** In this process, once the lease of the dead one is over. */
  runner(): Runner
}

export async function setUp(story: Story): Promise<Scene> {
  const world = await World.open()
  const file = temporaryFile()
  let deaths = 0
  return {
    file,
    world,
    async killed(what, when) {
      const aheadMs = LEASE_IS_OVER_MS * deaths++
      await killedWhen(when, program, { file, url: world.url, story, what, aheadMs } satisfies Order)
    },
    runner() {
      const services = sqlite(file, { now: () => Date.now() + LEASE_IS_OVER_MS * deaths })
      onTestFinished(() => services.close())
      return new Runner({ appName: 'app', agent: desk(reachAt(world.url), story), logger: quiet, ...services })
    },
  }
}

const program = fileURLToPath(new URL('./program.ts', import.meta.url))

export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-kill-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'app.db')
}

/** Every process after a dead one has a clock so far ahead that the dead one's lease is over: nobody has to wait. */
export const LEASE_IS_OVER_MS = 60_000

/** What Node has compiled is kept from one process to the next: they start in a third of the time. */
const compiled = mkdtempSync(join(tmpdir(), 'toolwright-compiled-'))
afterAll(() => rmSync(compiled, { recursive: true, force: true }))

/** Runs a program until it is time; one that ends by itself before that is an error. */
export async function killedWhen(when: Promise<unknown>, file: string, order: unknown): Promise<void> {
  const flags = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
  const exit = once(child, 'close')
  const isOver = await Promise.race([when.then(() => false), exit.then(() => true)])
  if (isOver) throw new Error(`It ended before it was killed: ${errors}`)
  child.kill('SIGKILL')
  await exit
}

export interface Told {
  readonly events: readonly Event[]
  /** By the name of the tool. */
  readonly responses: { readonly [tool: string]: JsonObject }
  readonly pending: readonly PendingRequest[]
}

/** Goes on with what the dead process left, and looks at the whole session. */
export async function goOn(runner: Runner): Promise<Told> {
  for await (const _ of runner.resume(where));
  return await look(runner)
}

export async function look(runner: Runner): Promise<Told> {
  const events = (await runner.sessionService.getSession({ appName: 'app', ...where }))?.events ?? []
  const names = new Map<string, string>()
  for (const { content } of events) {
    for (const { functionCall } of content?.parts ?? []) names.set(functionCall?.id ?? '', functionCall?.name ?? '')
  }
  const byName = Object.entries(finals(events)).map(([id, response]) => [names.get(id) ?? id, response] as const)
  return { events, responses: Object.fromEntries(byName), pending: await runner.pending(where) }
}

/** How often each call was answered, by name: once each is how it should be. */
export function answersPerCall(events: readonly Event[]): { [tool: string]: number } {
  const counts: { [tool: string]: number } = {}
  for (const { author, content } of events) {
    for (const { functionResponse } of (author !== 'user' && content?.parts) || []) {
      if (!functionResponse || functionResponse.willContinue) continue
      counts[functionResponse.name] = (counts[functionResponse.name] ?? 0) + 1
    }
  }
  return counts
}
