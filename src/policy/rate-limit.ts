import { type Ports, withSystemPorts } from '../base/ports.ts'
import { anything, type OptionRules } from '../error/check-options.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'
import { Line } from './wait.ts'
import { addLayer, checkPolicy, invalidPolicy, isCount, isDuration, keyOf, requireTool } from './wrap.ts'

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
  checkPolicy('rateLimit', tool, options, RULES, ports)
  const { max, perMs, key } = options ?? {}
  if (!isCount(max)) throw invalidPolicy('rateLimit', tool, 'max must be a whole number of at least 1.')
  if (!isDuration(perMs)) throw invalidPolicy('rateLimit', tool, 'perMs must be a positive number of milliseconds.')
  if (key !== undefined && typeof key !== 'function') throw invalidPolicy('rateLimit', tool, 'key must be a function.')
  const windows = new Map<string, Window>()
  let sweepAt = MANY_KEYS
  const clock = withSystemPorts(ports)
  return addLayer(tool, async (call, next) => {
    if (call.isResumed) return await next(call) // it has started before
    const id = key ? keyOf('rateLimit', tool, key(call)) : ''
    let window = windows.get(id)
    if (!window) {
      if (windows.size >= sweepAt) {
        for (const [other, { isIdle }] of windows) if (isIdle) windows.delete(other)
        sweepAt = Math.max(MANY_KEYS, 2 * windows.size)
      }
      window = new Window(max, perMs, clock)
      windows.set(id, window)
    }
    if (!window.take()) await window.wait(call.context.signal)
    return await next(call)
  })
}

const MANY_KEYS = 1_000

/** A sliding window: the times of the last `max` starts, the oldest first. */
class Window {
  readonly #starts: number[] = []
  readonly #line = new Line()
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
