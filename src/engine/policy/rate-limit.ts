import { type Ports, withSystemPorts } from '../../core/base/ports.ts'
import { callback, flag, type OptionRules } from '../../core/error/check-options.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { addMiddleware } from './add-middleware.ts'
import {
  COUNT,
  checkKey,
  checkPolicyOptions,
  checkPorts,
  DURATION,
  requireOption,
  requireTool,
} from './check-policy.ts'
import { noteTurn } from './note-turn.ts'
import { addSharedLimit } from './shared-limit.ts'
import { WaitQueue } from './wait-queue.ts'

/** Options of `rateLimit()`. */
export interface RateLimitOptions {
  /** Maximum number of calls that start in any period of `perMs`: in this process, or with `shared` in all processes. */
  max: number
  /** Length of the period in milliseconds. */
  perMs: number
  /** The group of a call; `max` applies to each group. Default: all calls of the tool are one group. */
  key?: ((call: PolicyCall) => string) | undefined
  /**
   * Counts the calls of all processes whose runners have the same store. Users take turns: who started the fewest calls comes first. A
   * call fails if the store does. Default false.
   */
  shared?: boolean | undefined
}

const RULES: OptionRules<RateLimitOptions> = { max: COUNT, perMs: DURATION, key: callback, shared: flag }

/**
 * Limits how many calls of a tool start in a period of time. Further calls wait in order. A cancelled call leaves the
 * queue.
 *
 * @example
 * const search = rateLimit(webSearch, { max: 10, perMs: 60_000 })
 */
export function rateLimit<T extends Tool>(tool: T, options: RateLimitOptions, ports: Partial<Ports> = {}): T {
  requireTool('rateLimit', tool)
  checkPolicyOptions('rateLimit', tool, options, RULES)
  checkPorts('rateLimit', tool, ports)
  const { max, perMs, key, shared } = options ?? {}
  requireOption('rateLimit', tool, 'max', max)
  requireOption('rateLimit', tool, 'perMs', perMs)
  if (shared) return addSharedLimit('rateLimit', tool, { max, perMs, key })
  const windows = new Map<string, SlidingWindow>()
  let sweepAt = SWEEP_THRESHOLD
  const clock = withSystemPorts(ports)
  return addMiddleware(tool, async (call, next) => {
    if (call.isResumed) return await next(call) // the call has already started
    const group = key ? checkKey('rateLimit', tool, key(call)) : ''
    let window = windows.get(group)
    if (!window) {
      if (windows.size >= sweepAt) {
        for (const [other, { isIdle }] of windows) if (isIdle) windows.delete(other)
        sweepAt = Math.max(SWEEP_THRESHOLD, 2 * windows.size)
      }
      window = new SlidingWindow(max, perMs, clock)
      windows.set(group, window)
    }
    if (!window.tryStart()) await noteTurn(call.context, 'rateLimit', window.wait(call.context.signal))
    return await next(call)
  })
}

/** Number of groups at which idle groups are removed. */
const SWEEP_THRESHOLD = 1_000

/** The start times of the last `max` calls of a group, the oldest first. */
class SlidingWindow {
  readonly #starts: number[] = []
  readonly #queue = new WaitQueue()
  readonly #max: number
  readonly #perMs: number
  readonly #clock: Ports
  #cancelTimer: (() => void) | undefined

  constructor(max: number, perMs: number, clock: Ports) {
    this.#max = max
    this.#perMs = perMs
    this.#clock = clock
  }

  get isIdle(): boolean {
    return this.#queue.length === 0 && (this.#starts.at(-1) ?? 0) + this.#perMs <= this.#clock.monotonicNow()
  }

  /** Starts a call immediately if the queue is empty and the limit is not reached. */
  tryStart(): boolean {
    return this.#queue.length === 0 && this.#start()
  }

  wait(signal: AbortSignal): Promise<void> {
    const turn = this.#queue.wait(signal, () => {
      if (this.#queue.length === 0) this.#clearTimer()
    })
    this.#setTimer()
    return turn
  }

  #start(): boolean {
    const now = this.#clock.monotonicNow()
    const oldest = this.#starts[0]
    if (this.#starts.length >= this.#max && oldest !== undefined) {
      if (now - oldest < this.#perMs) return false
      this.#starts.shift()
    }
    this.#starts.push(now)
    return true
  }

  #setTimer(): void {
    if (this.#cancelTimer || this.#queue.length === 0) return
    const waitMs = (this.#starts[0] ?? 0) + this.#perMs - this.#clock.monotonicNow()
    this.#cancelTimer = this.#clock.setTimer(
      () => {
        this.#cancelTimer = undefined
        while (this.#queue.length > 0 && this.#start()) this.#queue.next()
        this.#setTimer()
      },
      Math.max(1, waitMs),
    )
  }

  #clearTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}
