import { ToolwrightError } from '../../../core/error/error.ts'
import type { ActiveRun } from './active-run.ts'
import { Cancelled } from './cancelled.ts'
import type { RunFactory } from './run-factory.ts'
import type { CloseOptions } from './run-request.ts'

/** How long a closing runner waits until the ends of stopped runs are recorded, in milliseconds. */
const CLOSE_MS = 10_000

/** Waits up to `graceMs` for the runs under way, then stops the rest. `interrupt`: they stay interrupted; else they are cancelled. */
export async function stopRuns(factory: RunFactory, { graceMs = 0, interrupt = false }: CloseOptions): Promise<void> {
  if (graceMs > 0) await runsEnd(factory, graceMs)
  factory.close()
  const running = factory.running.all()
  for (const run of running) run.stop(interrupt ? interrupted() : new Cancelled('The runner was closed.'))
  if (running.length > 0) await runsEnd(factory, CLOSE_MS) // a store may never answer
  const left = running.filter(({ isFinished }) => !isFinished)
  if (left.length > 0) factory.services.logger.warn(leftBehind(left))
}

/** Settles when no run is under way, or after `graceMs`. */
function runsEnd({ running, services }: RunFactory, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = services.ports.setTimer(resolve, graceMs)
    void Promise.all(running.all().map(({ finished }) => finished)).then(() => {
      cancelTimer()
      resolve()
    })
  })
}

function interrupted(): ToolwrightError {
  const next = 'runner.recover() or runner.resume() continues it'
  return new ToolwrightError('INTERRUPTED', `The runner was closed before the run ended. ${next}.`)
}

function leftBehind(runs: readonly ActiveRun[]): string {
  const problem = `The session service did not record the end of ${runs.length} runs within ${CLOSE_MS} ms`
  const named = runs.slice(0, 10).map(({ sessionId }) => `"${sessionId}"`)
  return `${problem}: sessions ${named.join(', ')}. runner.recover() ends them later.`
}
