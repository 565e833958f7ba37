import { appendFileSync } from 'node:fs'
import { LlmAgent, Runner, type RunnerOptions, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { silentLogger } from './kit.ts'

/** What a process with a worker is started with. */
export interface WorkerChild {
  readonly file: string
  /** A file to which each run of the body appends its session. */
  readonly ledger: string
  /** The start of the fast clock. */
  readonly startedAt: number
}

/** A clock on which a minute passes in a second. */
export function fastClock(startedAt: number): () => number {
  return () => startedAt + (Date.now() - startedAt) * 60
}

/** A runner whose agent calls a tool once, then answers. */
export function reportRunner(services: Partial<RunnerOptions>, ledger: string, now: () => number): Runner {
  const report = tool({
    name: 'report',
    description: 'Writes a report',
    run: async (_, { invocation }) => {
      appendFileSync(ledger, `${invocation.session.id}\n`)
      await new Promise((resolve) => setTimeout(resolve, 30)) // work that a kill may interrupt
      return { ok: true }
    },
  })
  const model = scriptedModel(({ contents }) =>
    contents.some(({ parts }) => parts.some((part) => part.functionResponse))
      ? 'Done.'
      : { calls: [{ name: 'report', args: {} }] },
  )
  const agent = new LlmAgent({ name: 'desk', model, tools: [report] })
  const ports = { now, monotonicNow: () => performance.now() }
  return new Runner({ appName: 'shop', agent, logger: silentLogger, ports, ...services })
}
