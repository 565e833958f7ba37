import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
} from '@modelcontextprotocol/client'
import { type Ports, systemPorts } from '../../../core/base/ports.ts'
import { ABANDONED_MS, WHO_ASKS_MS } from '../limits.ts'

/** A call that is under way on a connection. The server may ask it for input. */
export interface ActiveCall {
  /** The user of the call. */
  readonly userKey: string
  /** Answers an elicitation of the server (2025 protocol). */
  elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>
  /** Answers a sampling request of the server (2025 protocol). */
  sample(params: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult>
}

/** The calls that are under way on a connection. A request of the 2025 protocol does not say which call it belongs to. */
export class ActiveCalls {
  readonly #calls: Set<ActiveCall> = new Set()
  readonly #ports: Pick<Ports, 'setTimer' | 'monotonicNow'>
  readonly #waiting: Set<() => void> = new Set()
  /** When calls of a user ended without an answer of the server, which may still ask for them. */
  readonly #abandoned: Map<string, number> = new Map()

  constructor(ports: Pick<Ports, 'setTimer' | 'monotonicNow'> = systemPorts) {
    this.#ports = ports
  }

  /** How many calls are under way. */
  get size(): number {
    return this.#calls.size
  }
  /** Adds a call. */
  add(call: ActiveCall): void {
    this.#calls.add(call)
  }
  /** Removes a call. `isAnswered`: the server has answered it, so it will not ask for it again. */
  delete(call: ActiveCall, isAnswered: boolean): void {
    this.#calls.delete(call)
    if (!isAnswered) this.#abandoned.set(call.userKey, this.#ports.monotonicNow())
    for (const check of [...this.#waiting]) check()
  }

  /**
   * The call that asks. With several calls of one user, waits until the others have their results, at most `WHO_ASKS_MS`;
   * then it is the oldest. Undefined while calls of several users are under way: the question of one user must not reach
   * another.
   */
  async findAsking(): Promise<ActiveCall | undefined> {
    if (this.#users === 1 && this.size > 1) await this.#untilOneIsLeft()
    const [oldest] = this.#calls
    return this.#users === 1 ? oldest : undefined
  }

  /** How many users the server may ask for. */
  get #users(): number {
    const now = this.#ports.monotonicNow()
    for (const [user, at] of this.#abandoned) if (now - at > ABANDONED_MS) this.#abandoned.delete(user)
    return new Set([...this.#abandoned.keys(), ...[...this.#calls].map(({ userKey }) => userKey)]).size
  }

  #untilOneIsLeft(): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = (): void => {
        stopTimer()
        this.#waiting.delete(check)
        resolve()
      }
      const check = (): void => {
        if (this.size <= 1) done()
      }
      const stopTimer = this.#ports.setTimer(done, WHO_ASKS_MS, { background: true })
      this.#waiting.add(check)
    })
  }
}
