import { newId } from './new-id.ts'

/** Time, timers and randomness. A test or a simulator replaces them. */
export interface Ports {
  /** Milliseconds since the epoch, for timestamps and expiry. The clock may be set forward or back at any time. */
  now(): number
  /** Milliseconds on a clock that is never set, for durations. */
  monotonicNow(): number
  /** Calls `callback` once after `ms`. The returned function cancels it. A background timer keeps no process alive. */
  setTimer(callback: () => void, ms: number, options?: { background?: boolean }): () => void
  /** A number >= 0 and < 1, for jitter. Not for ids. */
  random(): number
  /** An id that cannot be guessed. */
  newId(): string
}

/** The clocks, timers and randomness of the system. */
export const systemPorts: Ports = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer: (callback, ms, options) => {
    const timer: unknown = setTimeout(callback, ms)
    if (options?.background && isNodeTimer(timer)) timer.unref()
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
  },
  random: () => Math.random(),
  newId,
}

/** The given ports, completed by those of the system. A given `now` replaces both clocks. */
export function withSystemPorts(given: Partial<Ports> = {}): Ports {
  return { ...systemPorts, ...given, monotonicNow: given.monotonicNow ?? given.now ?? systemPorts.monotonicNow }
}

/** Lets timers and cancellation run, between steps that never wait themselves. */
export function yieldToTimers(ports: Pick<Ports, 'setTimer'>): Promise<void> {
  return new Promise((resolve) => void ports.setTimer(resolve, 0))
}

/** Is it a timer of Node? Timers of Node are objects. Elsewhere they are numbers, and keep no process alive. */
function isNodeTimer(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}
