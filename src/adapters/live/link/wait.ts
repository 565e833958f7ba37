import type { Ports } from '../../../core/base/ports.ts'

/** Waits for a time, or until `earlier` settles. Ends at once when the signal aborts, and leaves no timer behind. */
export async function wait(
  ms: number,
  ports: Pick<Ports, 'setTimer'>,
  signal: AbortSignal,
  earlier?: Promise<unknown>,
): Promise<void> {
  if (signal.aborted || (ms <= 0 && !earlier)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancelTimer = ports.setTimer(resolve, ms)
  const end = (): void => {
    cancelTimer()
    resolve()
  }
  signal.addEventListener('abort', end, { once: true })
  earlier?.then(end, end)
  await promise
  signal.removeEventListener('abort', end)
}
