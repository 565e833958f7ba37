// A process that a test kills. It sends a message, approves pending requests or resumes, and reports every yielded event.
import { flushCompileCache } from 'node:module'
import { approve, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { type AgentSetup, createPaymentAgent } from './payment-agent.ts'
import { createStepReporter } from './step-report.ts'

/** What the process does, as its only argument in JSON. */
export interface VictimCommand {
  /** The SQLite file. */
  readonly file: string
  /** Address of the payment server. */
  readonly url: string
  readonly agentSetup: AgentSetup
  readonly action: 'send' | 'approve' | 'resume'
  /** How far the clock of the store is ahead, so that the lease of the last killed process has expired. */
  readonly clockAheadMs: number
}

export const session = { userId: 'ada', sessionId: 's1' }

if (import.meta.main) {
  flushCompileCache() // the process is killed and cannot do it at its exit
  const { file, url, agentSetup, action, clockAheadMs } = JSON.parse(process.argv[2] ?? '') as VictimCommand
  const reportStep = createStepReporter(url)
  const services = sqlite(file, { now: () => Date.now() + clockAheadMs })
  const runner = new Runner({ appName: 'app', agent: createPaymentAgent(reportStep, agentSetup), ...services })
  const approvals = (await runner.pending(session)).map((request) => approve(request))
  const run =
    action === 'resume'
      ? runner.resume(session)
      : runner.run({ ...session, message: action === 'send' ? 'go' : approvals })
  for await (const event of run) {
    const kind = event.actions.requestedToolConfirmations ? 'confirmation' : event.content?.role
    await reportStep({ step: `yielded ${kind}`, yieldedEvent: { sessionId: session.sessionId, id: event.id } })
  }
  await reportStep({ step: 'run ended' })
}
