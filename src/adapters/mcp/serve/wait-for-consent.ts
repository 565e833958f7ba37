import type { Ports } from '../../../core/base/ports.ts'
import type { CallOutcome } from '../../../engine/runner/single-call/call-outcome.ts'
import type { CallRunner, StartedCall } from '../../../engine/runner/single-call/call-runner.ts'

/** How often the session is read, in milliseconds. */
const POLL_MS = 500

/**
 * Waits for a sign-in that the user has started in the browser. The callback of the sign-in answers the request, in this
 * process or another, and that run records the result of the call. Returns the pending outcome when the time is over.
 */
export async function waitForConsent(
  calls: CallRunner,
  started: StartedCall,
  { ports, waitMs }: { ports: Pick<Ports, 'now' | 'setTimer'>; waitMs: number },
): Promise<CallOutcome> {
  const end = ports.now() + waitMs
  for (;;) {
    const outcome = await calls.read(started)
    const isSettled = outcome.type === 'result' || (outcome.type === 'ended' && outcome.error !== undefined)
    if (isSettled || started.signal?.aborted || ports.now() >= end) return outcome
    await wait(POLL_MS, ports, started.signal)
  }
}

function wait(ms: number, { setTimer }: Pick<Ports, 'setTimer'>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const stop = setTimer(done, ms)
    signal?.addEventListener('abort', done)
  })
}
