// For tests only: policies composed around a body the way dispatch does it, and time held still.
import type { Ports } from '../base/ports.ts'
import type { ToolContext } from '../tool/context.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'

export interface ContextOptions {
  appName?: string
  userId?: string
  sessionId?: string
  invocationId?: string
  signal?: AbortSignal
  longRunning?: boolean
}

/** As much of a context as policies look at. */
export function createContext(who: ContextOptions = {}): ToolContext {
  const { appName = 'app', userId = 'ann', sessionId = 's1', invocationId = 'i1', longRunning = false } = who
  const context = {
    invocation: { appName, userId, invocationId, session: { id: sessionId } },
    actions: {},
    idempotencyKey: 'i1/c1',
    longRunning,
    signal: who.signal ?? new AbortController().signal,
  }
  return context as unknown as ToolContext
}

/** Calls a tool through its policies. */
export type CallTool = (tool: Tool, args?: unknown, context?: ToolContext) => Promise<unknown>

/** Composes a tool's policies around its body, which the test runs itself. */
export function toolCaller(body: (call: PolicyCall) => unknown): CallTool {
  return async (tool, args = {}, context = createContext()) => {
    const layers = tool.middleware ?? []
    const run = (at: number, call: PolicyCall): Promise<unknown> => {
      const layer = layers[at]
      return layer ? layer(call, (inner) => run(at + 1, inner)) : Promise.resolve(body(call))
    }
    return await run(0, { tool, args, context })
  }
}

/** A clock that moves only when told. */
export class FakeClock implements Ports {
  #now = 1_000
  #timers: { at: number; callback: () => void }[] = []
  /** How far the wall clock was set. */
  #step = 0
  now = (): number => this.#now + this.#step
  monotonicNow = (): number => this.#now
  /** Sets the wall clock forward, or back. No time passes. */
  step(ms: number): void {
    this.#step += ms
  }
  setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.#now + ms, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }
  random = (): number => 0.5
  newId = (): string => 'id'
  /** Timers that are still set. */
  get timers(): number {
    return this.#timers.length
  }
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await flushPromises()
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#now = next.at
      next.callback()
      await flushPromises()
    }
    this.#now = end
    await flushPromises()
  }
}

/** Lets everything that can go on without time go on. */
export function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A body that waits to be told how it ends. */
export function createHeldBody(): {
  run: () => Promise<unknown>
  calls: { finish(value: unknown): void; fail(error: unknown): void }[]
} {
  const calls: { finish(value: unknown): void; fail(error: unknown): void }[] = []
  const run = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      calls.push({ finish: resolve, fail: reject })
    })
  return { run, calls }
}
