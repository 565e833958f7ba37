import { ToolwrightError } from '../../../core/error/error.ts'
import type { RunServices } from '../run-services.ts'
import { Cancelled } from './cancelled.ts'
import type { RunFactory } from './run-factory.ts'
import type { StartedRun } from './run-handle.ts'
import type { CloseOptions } from '../runner-options.ts'

/** How long a closing runner waits until the ends of stopped runs are recorded, in milliseconds. */
const CLOSE_MS = 10_000

/** Waits up to `graceMs` for the runs under way, then stops the rest. `interrupt`: they stay interrupted; else they are cancelled. */
export async function stopRuns(factory: RunFactory, options: CloseOptions): Promise<void> {
  const running = (): StartedRun[] => factory.running.all()
  if (options.graceMs) await runsEnd(running, factory.services, options.graceMs)
  factory.close()
  await endRuns(running, factory.services, { ...options, graceMs: 0 })
}

/** Waits up to `graceMs` for these runs, then stops the rest. `interrupt`: they stay interrupted; else they are cancelled. */
export async function endRuns(
  running: () => readonly StartedRun[],
  services: Pick<RunServices, 'ports' | 'logger'>,
  { graceMs = 0, interrupt = false }: CloseOptions,
): Promise<void> {
  if (graceMs > 0) await runsEnd(running, services, graceMs)
  const stopped = running()
  for (const run of stopped) run.stop(interrupt ? interrupted() : new Cancelled('The runner was closed.'))
  if (stopped.length > 0) await runsEnd(running, services, CLOSE_MS) // a store may never answer
  const left = stopped.filter(({ isFinished }) => !isFinished)
  if (left.length > 0) services.logger.warn(leftBehind(left))
}

/** Settles when no run is under way, or after `graceMs`. */
function runsEnd(
  running: () => readonly StartedRun[],
  { ports }: Pick<RunServices, 'ports'>,
  graceMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = ports.setTimer(resolve, graceMs)
    void Promise.all(running().map(({ finished }) => finished)).then(() => {
      cancelTimer()
      resolve()
    })
  })
}

/** The reason of a run that another process continues. */
export function interrupted(): ToolwrightError {
  const next = 'runner.recover() or runner.resume() continues it'
  return new ToolwrightError('INTERRUPTED', `The runner was closed before the run ended. ${next}.`)
}

function leftBehind(runs: readonly StartedRun[]): string {
  const problem = `The session service did not record the end of ${runs.length} runs within ${CLOSE_MS} ms`
  const named = runs.slice(0, 10).map(({ sessionId }) => `"${sessionId}"`)
  return `${problem}: sessions ${named.join(', ')}. runner.recover() ends them later.`
}
