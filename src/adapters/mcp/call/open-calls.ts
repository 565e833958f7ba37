import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { MAX_OPEN_CALLS, OPEN_CALL_MS } from '../limits.ts'
import type { ServerCall } from './server-call.ts'

/** A call that waits for a human. */
interface OpenCall {
  /** The call. */
  readonly call: ServerCall
  /** The key of the input request. */
  readonly inputKey: string
}

/**
 * Calls of the 2025 protocol whose server waits for the answer of a human. The connection stays open in this process. The
 * next attempt of the body takes the call and continues it.
 */
export class OpenCalls {
  readonly #open: Map<string, OpenCall & { readonly stopTimer: () => void }> = new Map()
  readonly #ports: Pick<Ports, 'setTimer'>

  constructor(ports: Pick<Ports, 'setTimer'> = systemPorts) {
    this.#ports = ports
  }

  /** Keeps a call open. Returns false if too many calls are open. */
  keep(key: string, open: OpenCall): boolean {
    if (this.#open.size >= MAX_OPEN_CALLS) return false
    const decline = (): void => this.take(key)?.call.answer({ action: 'decline' })
    this.#open.set(key, { ...open, stopTimer: this.#ports.setTimer(decline, OPEN_CALL_MS, { background: true }) })
    return true
  }

  /** The call with this key, which is no longer kept here. Undefined if this process keeps none. */
  take(key: string): OpenCall | undefined {
    const open = this.#open.get(key)
    if (!open) return undefined
    open.stopTimer()
    this.#open.delete(key)
    return open
  }

  /** Cancels all open calls. */
  close(): void {
    for (const key of [...this.#open.keys()]) this.take(key)?.call.abort(new Error('The toolset is closed.'))
  }
}
