// Waiting that ends with the signal. When it ends, no timer and no listener is left.
import { type Ports, systemPorts } from '../../core/base/ports.ts'

/** Waits for `ms` milliseconds. Throws the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal, ports: Partial<Ports> = {}): Promise<void> {
  const setTimer = ports.setTimer ?? systemPorts.setTimer
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const cancelTimer = setTimer(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    const onAbort = (): void => {
      cancelTimer()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** The result of a promise. Throws the signal's reason if it aborts first; the promise itself is not cancelled. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
