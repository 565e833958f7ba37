import { type Ports, portsWith } from '../base/ports.ts'
import { anything, type OptionRules } from '../error/check-options.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { WaitQueue } from './wait.ts'
import { addMiddleware, checkPolicyOptions, invalidPolicy, isCount, isDuration, checkKey, requireTool } from './wrap.ts'

/** How many calls may start in any stretch of `perMs`; counted for all calls of the tool, or by key. */
export interface RateLimitOptions {
  max: number
  perMs: number
  key?: ((call: PolicyCall) => string) | undefined
}

const RULES: OptionRules<RateLimitOptions> = { max: anything, perMs: anything, key: anything }

/**
 * At most `max` starts in any `perMs`; the others wait in line, and leave it when they are cancelled.
 *
 * @example
 * rateLimit(search, { max: 10, perMs: 60_000 })
 */
export function rateLimit<T extends Tool>(tool: T, options: RateLimitOptions, ports: Partial<Ports> = {}): T {
  requireTool('rateLimit', tool)
  checkPolicyOptions('rateLimit', tool, options, RULES, ports)
  const { max, perMs, key } = options ?? {}
  if (!isCount(max)) throw invalidPolicy('rateLimit', tool, 'max must be a whole number of at least 1.')
  if (!isDuration(perMs)) throw invalidPolicy('rateLimit', tool, 'perMs must be a positive number of milliseconds.')
  if (key !== undefined && typeof key !== 'function') throw invalidPolicy('rateLimit', tool, 'key must be a function.')
  const windows = new Map<string, SlidingWindow>()
  let sweepAt = SWEEP_THRESHOLD
  const clock = portsWith(ports)
  return addMiddleware(tool, async (call, next) => {
    if (call.isResumed) return await next(call) // it has started before
    const id = key ? checkKey('rateLimit', tool, key(call)) : ''
    let window = windows.get(id)
    if (!window) {
      if (windows.size >= sweepAt) {
        for (const [other, { isIdle }] of windows) if (isIdle) windows.delete(other)
        sweepAt = Math.max(SWEEP_THRESHOLD, 2 * windows.size)
      }
      window = new SlidingWindow(max, perMs, clock)
      windows.set(id, window)
    }
    if (!window.take()) await window.wait(call.context.signal)
    return await next(call)
  })
}

const SWEEP_THRESHOLD = 1_000

/** A sliding window: the times of the last `max` starts, the oldest first. */
class SlidingWindow {
  readonly #starts: number[] = []
  readonly #line = new WaitQueue()
  readonly #max: number
  readonly #perMs: number
  readonly #clock: Ports
  #stopTimer: (() => void) | undefined

  constructor(max: number, perMs: number, clock: Ports) {
    this.#max = max
    this.#perMs = perMs
    this.#clock = clock
  }

  get isIdle(): boolean {
    return this.#line.length === 0 && (this.#starts.at(-1) ?? 0) + this.#perMs <= this.#clock.monotonicNow()
  }

  /** Starts at once, when nobody is in line and there is room. */
  take(): boolean {
    return this.#line.length === 0 && this.#start()
  }

  wait(signal: AbortSignal): Promise<void> {
    const turn = this.#line.wait(signal, () => {
      if (this.#line.length === 0) this.#stop()
    })
    this.#arm()
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

  #arm(): void {
    if (this.#stopTimer || this.#line.length === 0) return
    const free = (this.#starts[0] ?? 0) + this.#perMs - this.#clock.monotonicNow()
    this.#stopTimer = this.#clock.setTimer(
      () => {
        this.#stopTimer = undefined
        while (this.#line.length > 0 && this.#start()) this.#line.next()
        this.#arm()
      },
      Math.max(1, free),
    )
  }

  #stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
