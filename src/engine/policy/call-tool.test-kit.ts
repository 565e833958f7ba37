// For tests only: calls a tool through its policies as dispatch does, with a fake clock.
import type { Ports } from '../../core/base/ports.ts'
import type { ToolContext } from '../context/context.ts'
import type { PolicyCall, Tool } from '../tool/tool.ts'

/** What a test sets in the context of a call. */
export interface ContextOptions {
  /** Default `app`. */
  appName?: string
  /** Default `ann`. */
  userId?: string
  /** Default `s1`. */
  sessionId?: string
  /** Default `i1`. */
  invocationId?: string
  /** Default: a signal that never aborts. */
  signal?: AbortSignal
  /** Default false. */
  longRunning?: boolean
  /** Receives progress. Default: it is dropped. */
  progress?: (value: unknown) => void
}

/** A context with the members that policies read. */
export function createContext(options: ContextOptions = {}): ToolContext {
  const { appName = 'app', userId = 'ann', sessionId = 's1', invocationId = 'i1', longRunning = false } = options
  const context = {
    invocation: { appName, userId, invocationId, session: { id: sessionId } },
    actions: {},
    idempotencyKey: 'i1/c1',
    longRunning,
    signal: options.signal ?? new AbortController().signal,
    progress: options.progress ?? (() => {}),
  }
  return context as unknown as ToolContext
}

/** Calls a tool through its policies. */
type CallTool = (tool: Tool, args?: unknown, context?: ToolContext) => Promise<unknown>

/** A function that calls a tool through its policies. `body` replaces the body of the tool. */
export function toolCaller(body: (call: PolicyCall) => unknown): CallTool {
  return async (tool, args = {}, context = createContext()) => {
    const middleware = tool.middleware ?? []
    const run = (at: number, call: PolicyCall): Promise<unknown> => {
      const layer = middleware[at]
      return layer ? layer(call, (inner) => run(at + 1, inner)) : Promise.resolve(body(call))
    }
    return await run(0, { tool, args, context })
  }
}

/** A clock that only moves when a test advances it. */
export class FakeClock implements Ports {
  #now = 1_000
  #timers: { at: number; callback: () => void }[] = []
  /** How far the wall clock was changed. */
  #step = 0
  /** The wall clock. */
  now = (): number => this.#now + this.#step
  /** The monotonic clock. */
  monotonicNow = (): number => this.#now
  /** Changes the wall clock without advancing the time. */
  step(ms: number): void {
    this.#step += ms
  }
  /** Calls back when the clock reaches the time. */
  setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.#now + ms, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }
  /** Always 0.5. */
  random = (): number => 0.5
  /** Always `id`. */
  newId = (): string => 'id'
  /** The number of timers that have not fired. */
  get timers(): number {
    return this.#timers.length
  }
  /** Advances the time and fires the timers that become due. */
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

/** Waits until all resolved promises have been handled. */
export function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A body whose calls end only when a test finishes or fails them. */
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
