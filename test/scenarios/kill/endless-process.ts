// A process that works on several sessions until it is killed: it finishes their pending work, then sends a new message.
import { flushCompileCache } from 'node:module'
import { approve, type Content, LlmAgent, type Model, type Part, Runner, ToolwrightError } from 'toolwright'
import { type SqliteServices, sqlite } from 'toolwright/sqlite'
import { effects, paymentTool } from './payment-agent.ts'
import { createStepReporter, type ReportStep } from './step-report.ts'

/** What the process does, as its only argument in JSON. */
export interface EndlessProcessCommand {
  /** The SQLite file. */
  readonly file: string
  /** Address of the payment server. */
  readonly url: string
  /** Name of this process in its reports. */
  readonly processName: string
  /** Ids of the sessions to work on. */
  readonly sessions: readonly string[]
  /** How far the clock of the store is ahead, so that the lease of the last killed process has expired. */
  readonly clockAheadMs: number
}

/** The tools that the model calls for each message, in turn. */
const callsByMessage = [
  ['atMostOnce'],
  ['approved'],
  ['none', 'idempotent', 'reconcilable', 'atMostOnce'],
  ['reconcilable', 'approved', 'idempotent', 'approved'],
]

export function createEndlessRunner(services: SqliteServices, reportStep: ReportStep): Runner {
  const tools = [
    ...effects.map((effect) => paymentTool(effect, effect, reportStep, false)),
    paymentTool('approved', 'atMostOnce', reportStep, true),
  ]
  const agent = new LlmAgent({ name: 'desk', model: countingModel(), tools })
  return new Runner({ appName: 'app', agent, logger: { warn: () => {}, error: () => {} }, ...services })
}

function countingModel(): Model {
  return {
    name: 'counting',
    async *generate({ contents }) {
      const hasResults = contents.at(-1)?.role === 'tool'
      const calls = callsByMessage[contents.filter(isMessage).length % callsByMessage.length] ?? []
      const parts = calls.map((name): Part => ({ functionCall: { name, args: {} } }))
      yield { content: { role: 'model', parts: hasResults ? [{ text: 'done' }] : parts } }
    },
  }
}

function isMessage({ role, parts }: Content): boolean {
  return role === 'user' && parts.some(({ text }) => text !== undefined)
}

/** Resumes the session and approves its pending requests until none is left. */
export async function finishPendingWork(runner: Runner, sessionId: string, reportStep: ReportStep): Promise<void> {
  await reportYieldedEvents(runner.resume({ userId: 'ada', sessionId }), reportStep).catch((error) => {
    if (!(error instanceof ToolwrightError && error.code === 'NOT_FOUND')) throw error
  })
  for (;;) {
    const message = (await runner.pending({ userId: 'ada', sessionId })).map((request) => approve(request))
    if (message.length === 0) return
    await reportYieldedEvents(runner.run({ userId: 'ada', sessionId, message }), reportStep)
  }
}

export async function sendMessage(runner: Runner, sessionId: string, reportStep: ReportStep): Promise<void> {
  await reportYieldedEvents(runner.run({ userId: 'ada', sessionId, message: 'go' }), reportStep)
}

/** Reports every yielded event, so that the audit can compare them with the log. */
async function reportYieldedEvents(run: ReturnType<Runner['run']>, reportStep: ReportStep): Promise<void> {
  for await (const { id } of run) await reportStep({ step: 'yielded', yieldedEvent: { sessionId: run.sessionId, id } })
}

if (import.meta.main) {
  flushCompileCache() // the process is killed and cannot do it at its exit
  const { file, url, processName, sessions, clockAheadMs } = JSON.parse(process.argv[2] ?? '') as EndlessProcessCommand
  const reportStep = createStepReporter(url, processName)
  const runner = createEndlessRunner(sqlite(file, { now: () => Date.now() + clockAheadMs }), reportStep)
  const work = async (sessionId: string): Promise<never> => {
    for (;;) {
      await finishPendingWork(runner, sessionId, reportStep)
      await sendMessage(runner, sessionId, reportStep)
    }
  }
  await Promise.all(sessions.map(work))
}
