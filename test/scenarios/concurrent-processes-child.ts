// A child process over the same file that follows commands: it answers, resumes, or hangs in a body.
import { appendFileSync } from 'node:fs'
import { type Completion, LlmAgent, type Part, type Ports, Runner, type Tool, ToolwrightError, tool } from 'toolwright'
import { type SqliteServices, sqlite } from 'toolwright/sqlite'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { ManualTimers, plainTool, silentLogger } from './kit.ts'

const where = { userId: 'ada', sessionId: 's1' }
let services: SqliteServices | undefined
let ledger = ''
let finish: (value: unknown) => void = () => {}

/** Timers of the hanging process: its lease is renewed on command. (Stopped while it writes, it would lock the file.) */
let timers = new ManualTimers()

/** A tool that appends a line to the ledger each time it runs. */
const pay = plainTool(
  'pay',
  () => {
    appendFileSync(ledger, 'paid\n')
    return { paid: true }
  },
  { effect: 'idempotent' },
)
const gated = { ...pay, requiresConfirmation: true }

const hang = tool({
  name: 'hang',
  description: 'Hang',
  run: (_args, { signal }) => {
    signal.addEventListener('abort', () => report('aborted'))
    report('began')
    return new Promise((resolve) => (finish = resolve))
  },
})

function runner(steps: readonly ScriptedStep[], tools: readonly Tool[], ports: Partial<Ports> = {}): Runner {
  if (!services) throw new Error('no file is open')
  const agent = new LlmAgent({ name: 'agent', model: scriptedModel(steps), tools })
  return new Runner({ appName: 'app', agent, logger: silentLogger, ports, ...services })
}

const commands = new Map<string, (...args: readonly never[]) => unknown>([
  [
    'open',
    (file: string, time: number, lines: string) => {
      services?.close()
      services = sqlite(file, { now: () => time })
      ledger = lines
    },
  ],
  [
    'answer',
    (times: number, part: Part) =>
      atOnce(times, () => runner(['done'], [gated]).complete({ ...where, message: [part] })),
  ],
  ['resume', (times: number) => atOnce(times, () => drain(runner(['done'], [pay]).resume(where)))],
  ['hang', hangOn],
  ['renew', () => timers.fire(5_000)],
  ['finish', () => finish({ ok: true })],
] as const)

function hangOn(): Promise<Completion> {
  timers = new ManualTimers()
  const steps = [{ calls: [{ id: 'c1', name: 'hang' }] }, 'done']
  return runner(steps, [hang], timers.ports).complete({ ...where, message: 'go' })
}

/** The outcome of each: `done`, or the code of the error. */
async function atOnce(times: number, one: () => Promise<unknown>): Promise<string[]> {
  const outcomes = await Promise.allSettled(Array.from({ length: times }, one))
  return outcomes.map((each) => (each.status === 'fulfilled' ? 'done' : codeOf(each.reason)))
}

async function drain(run: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of run);
}

function codeOf(error: unknown): string {
  return error instanceof ToolwrightError ? error.code : `untyped: ${String(error)}`
}

function report(progress: string): void {
  process.send?.({ progress })
}

process.on('message', async ({ id, command, args }: { id: number; command: string; args: never[] }) => {
  try {
    process.send?.({ id, result: await commands.get(command)?.(...args) })
  } catch (error) {
    process.send?.({ id, error: { code: codeOf(error), message: String(error) } })
  }
})
