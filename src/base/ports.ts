import { newId } from './new-id.ts'

/** What the outside world gives the runner; a test or a simulator holds it still. */
export interface Ports {
  /** Milliseconds since the epoch: for timestamps and expiry. It may be set forward or back at any time. */
  now(): number
  /** Milliseconds since some moment, never set: for durations. */
  monotonicNow(): number
  /** Calls back once after `ms`; the returned function takes it back. A background timer keeps no process alive. */
  setTimer(callback: () => void, ms: number, options?: { background?: boolean }): () => void
  /** From 0 up to, not including, 1. For jitter only, never for ids. */
  random(): number
  /** An id nobody can guess. */
  newId(): string
}

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

/** The given ports and the system's others. A test that holds `now` still holds both clocks. */
export function withSystemPorts(given: Partial<Ports> = {}): Ports {
  return { ...systemPorts, ...given, monotonicNow: given.monotonicNow ?? given.now ?? systemPorts.monotonicNow }
}

/** Gives timers and cancellation a turn, between steps that never wait by themselves. */
export function yieldToTimers(ports: Pick<Ports, 'setTimer'>): Promise<void> {
  return new Promise((resolve) => void ports.setTimer(resolve, 0))
}

/** Node's timers are objects; elsewhere they are numbers and keep nothing alive. */
function isNodeTimer(timer: unknown): timer is { unref(): void } {
  return typeof timer === 'object' && timer !== null && 'unref' in timer
}
