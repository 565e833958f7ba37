// Sets up a kill test: a SQLite file, a payment server, processes to kill, and a runner in this process that resumes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Event, type JsonObject, type PendingRequest, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { afterAll, onTestFinished } from 'vitest'
import { finalResponses } from '../approvals-kit.ts'
import { silentLogger } from '../kit.ts'
import { type AgentSetup, createPaymentAgent } from './payment-agent.ts'
import { PaymentServer } from './payment-server.ts'
import { createStepReporter } from './step-report.ts'
import { session, type VictimCommand } from './victim-process.ts'

export interface KillScenario {
  /** The SQLite file. */
  readonly file: string
  readonly server: PaymentServer
  /** Starts a process and kills it with SIGKILL when `when` resolves. */
  killDuring(action: VictimCommand['action'], when: Promise<unknown>): Promise<void>
  /** Creates a runner in this process whose clock is past the lease of the killed processes. */
  createRunner(): Runner
}

export async function setUpKillScenario(agentSetup: AgentSetup): Promise<KillScenario> {
  const server = await PaymentServer.start()
  const file = temporaryFile()
  let kills = 0
  return {
    file,
    server,
    async killDuring(action, when) {
      const clockAheadMs = LEASE_EXPIRED_MS * kills++
      const command: VictimCommand = { file, url: server.url, agentSetup, action, clockAheadMs }
      await killWhen(when, victimProcess, command)
    },
    createRunner() {
      const services = sqlite(file, { now: () => Date.now() + LEASE_EXPIRED_MS * kills })
      onTestFinished(() => services.close())
      const agent = createPaymentAgent(createStepReporter(server.url), agentSetup)
      return new Runner({ appName: 'app', agent, logger: silentLogger, ...services })
    },
  }
}

const victimProcess = fileURLToPath(new URL('./victim-process.ts', import.meta.url))

/** The path of a SQLite file that is removed after the test. */
export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-kill-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'app.db')
}

/** The clock of each process is this far ahead of the killed one before it. The lease has expired, so nothing waits. */
export const LEASE_EXPIRED_MS = 60_000

/** All processes share a compile cache, which cuts their start to a third of the time. */
const compileCache = mkdtempSync(join(tmpdir(), 'toolwright-compiled-'))
afterAll(() => rmSync(compileCache, { recursive: true, force: true }))

/** Starts a program and kills it when `when` resolves. Throws if the program ends before. */
export async function killWhen(when: Promise<unknown>, program: string, command: unknown): Promise<void> {
  const flags = ['--conditions=toolwright:source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(command)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
  const exit = once(child, 'close')
  const hasEnded = await Promise.race([when.then(() => false), exit.then(() => true)])
  if (hasEnded) throw new Error(`The process ended before it was killed: ${errors}`)
  child.kill('SIGKILL')
  await exit
}

/** What a session holds. */
export interface SessionView {
  readonly events: readonly Event[]
  /** The final responses by tool name. */
  readonly responses: { readonly [tool: string]: JsonObject }
  readonly pending: readonly PendingRequest[]
}

/** Resumes what the killed process left, then reads the whole session. */
export async function resumeSession(runner: Runner): Promise<SessionView> {
  for await (const _ of runner.resume(session));
  return await readSession(runner)
}

/** Reads the events, final responses and pending requests of the session. */
export async function readSession(runner: Runner): Promise<SessionView> {
  const events = (await runner.sessionService.getSession({ appName: 'app', ...session }))?.events ?? []
  const names = new Map<string, string>()
  for (const { content } of events) {
    for (const { functionCall } of content?.parts ?? []) names.set(functionCall?.id ?? '', functionCall?.name ?? '')
  }
  const byName = Object.entries(finalResponses(events)).map(
    ([id, response]) => [names.get(id) ?? id, response] as const,
  )
  return { events, responses: Object.fromEntries(byName), pending: await runner.pending(session) }
}

/** Counts the final responses by tool name. */
export function countResponses(events: readonly Event[]): { [tool: string]: number } {
  const counts: { [tool: string]: number } = {}
  for (const { author, content } of events) {
    for (const { functionResponse } of (author !== 'user' && content?.parts) || []) {
      if (!functionResponse || functionResponse.willContinue) continue
      counts[functionResponse.name] = (counts[functionResponse.name] ?? 0) + 1
    }
  }
  return counts
}
