// What a worker does for an app, whatever engine calls it.
import type { JsonObject } from '../../core/base/json.ts'
import type { Logger } from '../../engine/dispatch/host.ts'
import type { Runner } from '../../engine/runner/runner.ts'
import type { RecoverOptions } from '../../engine/runner/runner-options.ts'
import type { SessionOfApp } from '../../engine/runner/work/work-item.ts'
import type { CallOfApp } from './names.ts'
import { type CallTarget, type OpenedCall, openCall, type SealedCall, sealCall } from './sealed-call.ts'

/** What the apps of a worker share. */
export interface FleetParts extends Pick<RecoverOptions, 'runContext'> {
  /** Signs and checks calls. */
  readonly secret: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Aborts when the worker stops: it leaves runs to other workers. */
  readonly stopping: AbortSignal
  /** How many processes in a row may die with a session. */
  readonly maxCrashes: number
  /** Receives errors. */
  readonly logger: Logger
}

/** A later call of a handler, which the engine stores. */
export interface LaterCall {
  /** Where it goes. */
  readonly target: CallTarget
  /** What it has. */
  readonly call: SealedCall
  /** How long to wait before, in milliseconds. */
  readonly delayMs: number
  /** Calls with the same name are one. */
  readonly once: string | null
}

/** The name under which workers take sessions over from one another. */
const TAKE_OVER = 'restate'

/** A session is woken this much after its request expires, in milliseconds. */
const LATER_MS = 1_000

/** An app of a worker. */
export class FleetApp {
  /** Runs the sessions of the app. */
  readonly runner: Runner
  /** What the apps of the worker share. */
  readonly parts: FleetParts
  readonly #bodies: Set<Promise<unknown>> = new Set()

  constructor(runner: Runner, parts: FleetParts) {
    this.runner = runner
    this.parts = parts
  }

  /** Checks that a call is signed for this target. Throws UNAUTHENTICATED. */
  open(target: CallTarget, call: unknown): OpenedCall {
    const { secret, now } = this.parts
    return openCall(secret, target, call, now())
  }

  /** A later call. */
  later(
    target: CallTarget,
    input: JsonObject,
    { delayMs = 0, once = null }: Partial<Pick<LaterCall, 'delayMs' | 'once'>> = {},
  ): LaterCall {
    const { secret, now } = this.parts
    return { target, call: sealCall(secret, target, input, now() + delayMs), delayMs, once }
  }

  /** Runs the body of a background call, and says whether another worker must. */
  async runBody(
    call: CallOfApp,
    target: CallTarget,
    { isHandedOver, signal }: { readonly isHandedOver: boolean; readonly signal: AbortSignal },
  ): Promise<LaterCall | null> {
    const { stopping, maxCrashes, runContext } = this.parts
    const options = { runContext, maxCrashes, isHandedOver, signal: AbortSignal.any([stopping, signal]) }
    const running = this.runner.internals.runBackgroundCall(call, call.callId, options)
    this.#bodies.add(running)
    try {
      return (await running).type === 'interrupted' ? this.later(target, { isHandedOver: true }) : null
    } finally {
      this.#bodies.delete(running)
    }
  }

  /** Resolves when the bodies that run now have ended. */
  async bodiesEnded(): Promise<void> {
    await Promise.allSettled(this.#bodies)
  }

  /** Continues a session until nothing is left to do, and says when a worker must look at it again. */
  async wake(
    session: SessionOfApp,
    target: CallTarget,
    { scheduleId, signal }: { readonly scheduleId: string | undefined; readonly signal: AbortSignal },
  ): Promise<LaterCall | null> {
    const { stopping, maxCrashes, runContext, now } = this.parts
    const left = await this.runner.internals.wakeSession(session, {
      takeOver: TAKE_OVER,
      maxCrashes,
      runContext,
      scheduleId,
      signal: AbortSignal.any([stopping, signal]),
    })
    switch (left.type) {
      case 'idle':
      case 'busy': // what its holder leaves is found by the sweep
        return null
      case 'limited':
        return this.later(target, {}, { delayMs: left.retryAfterMs })
      case 'interrupted':
        return this.later(target, {})
      case 'waits':
        return this.later(
          target,
          {},
          { delayMs: Math.max(0, left.until - now()) + LATER_MS, once: `expires-${left.until}` },
        )
    }
  }
}
