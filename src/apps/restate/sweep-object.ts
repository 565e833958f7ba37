// The object that looks for work of an app in the store, each second: what no caller has told Restate about.
import type { ObjectContext, VirtualObjectDefinition } from '@restatedev/restate-sdk'
import type { WorkFinder } from '../../engine/runner/work/find-work.ts'
import { itemKeyOf, keyOf, type WorkItem } from '../../engine/runner/work/work-item.ts'
import { watchSessions } from '../../services/session/watch-sessions.ts'
import type { FleetApp, LaterCall } from './fleet-app.ts'
import { keyOfSession, SWEEP_KEY, sessionServiceOf, sweepServiceOf } from './names.ts'
import type { CallTarget } from './sealed-call.ts'
import { sendLater } from './send-later.ts'
import { forCaller, type RestateSdk } from './terminal-errors.ts'

/** How often the store is asked for work, in milliseconds. */
const EVERY_MS = 1_000
/** A session that was woken is woken again after this time, in milliseconds, if it still has work. */
const AGAIN_MS = 30_000

/** Finds work in the store, and remembers for a while what it has found. */
export class Sweep {
  readonly #app: FleetApp
  readonly #woken: Map<string, number> = new Map()
  readonly #unwatch: () => void
  #finder: Promise<WorkFinder> | undefined

  constructor(app: FleetApp) {
    this.#app = app
    const { appName, sessionService } = app.runner
    this.#unwatch = watchSessions(sessionService, (key) => {
      if (key.appName === appName) this.#woken.delete(keyOf(key))
    })
  }

  /** The calls that wake the sessions with work, each session once. */
  async find(): Promise<LaterCall[]> {
    const { runner, parts } = this.#app
    const now = parts.now()
    for (const [key, at] of this.#woken) if (Math.abs(now - at) > AGAIN_MS) this.#woken.delete(key)
    this.#finder ??= runner.internals.findWork()
    const finder = await this.#finder.catch((error: unknown) => {
      this.#finder = undefined
      throw error
    })
    const found = (await finder.find(this.#woken.size)).filter((item) => !this.#woken.has(itemKeyOf(item)))
    for (const item of found) this.#woken.set(itemKeyOf(item), now)
    return found.map((item) => this.#callOf(item))
  }

  #callOf(item: WorkItem): LaterCall {
    const service = sessionServiceOf(this.#app.runner.appName)
    const input = item.type === 'tick' ? { scheduleId: item.schedule.id } : {}
    return this.#app.later({ service, key: keyOfSession(item), handler: 'wake' }, input)
  }

  /** Stops watching the store. */
  close(): void {
    this.#unwatch()
  }
}

/** The service that looks for work of an app. `start` starts its loop, and ends an earlier one. */
export function sweepObject(sdk: RestateSdk, app: FleetApp, sweep: Sweep): VirtualObjectDefinition<string, unknown> {
  const service = sweepServiceOf(app.runner.appName)
  const targetOf = (handler: string): CallTarget => ({ service, key: SWEEP_KEY, handler })
  const next = (ctx: ObjectContext, loop: string, delayMs: number): Promise<LaterCall> =>
    ctx.run('next', () => app.later(targetOf('sweep'), { loop }, { delayMs }))

  const start = async (ctx: ObjectContext, call: unknown): Promise<void> => {
    await forCaller(sdk, () => app.open(targetOf('start'), call))
    const loop = ctx.request().id
    ctx.set('loop', loop)
    sendLater(sdk, ctx, await next(ctx, loop, 0))
  }

  const look = async (ctx: ObjectContext, call: unknown): Promise<void> => {
    const { input } = await forCaller(sdk, () => app.open(targetOf('sweep'), call))
    const { loop } = input
    if (typeof loop !== 'string' || (await ctx.get('loop')) !== loop) return // another loop has started
    // a repeated attempt must send what the first one has sent: the result is stored
    const found = await ctx.run('find', () => sweep.find())
    for (const one of found) sendLater(sdk, ctx, one)
    sendLater(sdk, ctx, await next(ctx, loop, EVERY_MS))
  }

  const { exclusive } = sdk.handlers.object
  return sdk.object({
    name: service,
    handlers: { start: exclusive(start), sweep: exclusive(look) },
    options: {
      journalRetention: 0,
      retryPolicy: { initialInterval: 100, maxInterval: 5_000, exponentiationFactor: 2, maxAttempts: 1_000_000 },
    },
  }) as VirtualObjectDefinition<string, unknown>
}
