import { systemPorts } from '../../base/ports.ts'
import type { ServerCall } from './server-call.ts'

/** How long a connection of the 2025 protocol is held while a human answers. Then the question is declined. */
export const HOLD_MS: number = 5 * 60 * 1000

/** The most calls of one toolset that are held at the same time. Further questions are declined at once. */
const MAX_HELD = 100

/** A call that waits for a human. */
export interface HeldCall {
  /** The call. */
  readonly call: ServerCall
  /** The key of the input request. */
  readonly inputKey: string
}

/**
 * Calls of the 2025 protocol whose server waits for the answer of a human. The connection stays open in this process. The
 * next attempt of the body takes the call and continues it.
 */
export class HeldCalls {
  readonly #held: Map<string, HeldCall & { readonly stopTimer: () => void }> = new Map()

  /** Holds a call. Returns false if too many calls are held. */
  hold(key: string, held: HeldCall, holdMs: number = HOLD_MS): boolean {
    if (this.#held.size >= MAX_HELD) return false
    const decline = (): void => this.take(key)?.call.answer({ action: 'decline' })
    this.#held.set(key, { ...held, stopTimer: systemPorts.setTimer(decline, holdMs, { background: true }) })
    return true
  }

  /** The call with this key, which is no longer held. Undefined if this process holds none. */
  take(key: string): HeldCall | undefined {
    const held = this.#held.get(key)
    if (!held) return undefined
    held.stopTimer()
    this.#held.delete(key)
    return held
  }

  /** Cancels all held calls. */
  close(): void {
    for (const key of [...this.#held.keys()]) this.take(key)?.call.abort(new Error('The toolset is closed.'))
  }
}
