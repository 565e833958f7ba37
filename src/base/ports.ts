import { newId } from './new-id.ts'

/** What the outside world gives the runner; a test or a simulator holds it still. */
export interface Ports {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after `ms`; the returned function takes it back. A background timer keeps no process alive. */
  setTimer(callback: () => void, ms: number, options?: { background?: boolean }): () => void
  /** From 0 up to, not including, 1. For jitter only, never for ids. */
  random(): number
  /** An id nobody can guess. */
  newId(): string
}

export const systemPorts: Ports = {
  now: () => Date.now(),
  setTimer: (callback, ms, options) => {
    const timer: unknown = setTimeout(callback, ms)
    if (options?.background && isNodeTimer(timer)) timer.unref()
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
  },
  random: () => Math.random(),
  newId,
}

/** Milliseconds since this process began, on a clock that is never set: for durations, not for dates. */
export function monotonicNow(): number {
  return performance.now()
}

/** Node's timers are objects; elsewhere they are numbers and keep nothing alive. */
function isNodeTimer(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}
