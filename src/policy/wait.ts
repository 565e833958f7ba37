// Waiting that ends with the call: nothing, timer or listener, stays behind when the signal is aborted.
import { type Ports, systemPorts } from '../base/ports.ts'

/** Waits for `ms`, or throws the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal, ports: Partial<Ports> = {}): Promise<void> {
  const setTimer = ports.setTimer ?? systemPorts.setTimer
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const cancel = setTimer(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, ms)
    const leave = (): void => {
      cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
  })
}

/** What the promise gives, unless the signal is aborted first: then the promise is left to others. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

/** Those who wait for their turn, first come first served; one whose signal is aborted leaves the line. */
export class WaitQueue {
  readonly #waiting = new Set<() => void>()

  get length(): number {
    return this.#waiting.size
  }

  /** Waits to be called up. `onLeave` is told when it gave up instead. */
  wait(signal: AbortSignal, onLeave?: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const go = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#waiting.delete(go)
        reject(signal.reason)
        onLeave?.()
      }
      this.#waiting.add(go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** Calls up the first in line; false when nobody waits. */
  next(): boolean {
    for (const go of this.#waiting) {
      this.#waiting.delete(go)
      go()
      return true
    }
    return false
  }
}
