import type { JsonObject } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyState, State } from '../../context/context.ts'
import { toStateDelta } from '../../context/state.ts'

/**
 * The state of a live session, for its app and its hooks. Reads see earlier writes at once. Writes are recorded in the event log
 * together, right after the code that made them.
 */
export class SessionState implements State {
  readonly #recorded: ReadonlyState
  readonly #record: (delta: JsonObject) => Promise<void>
  readonly #onWrite: (key: string) => void
  /** Writes that are not recorded yet. Null deletes a key. */
  readonly #written: Map<string, unknown> = new Map()
  #unsaved: JsonObject | undefined
  #saving: Promise<void> = Promise.resolve()
  #lifecycle: 'open' | 'closed' = 'open'

  constructor(
    recorded: ReadonlyState,
    record: (delta: JsonObject) => Promise<void>,
    onWrite: (key: string) => void = () => {},
  ) {
    this.#recorded = recorded
    this.#record = record
    this.#onWrite = onWrite
  }

  /** Returns a copy of the value, or the fallback if the key is absent. `derived:<key>` reads a computed value. */
  get<T>(key: string, fallback?: T): T {
    if (!this.#written.has(key)) return this.#recorded.get(key, fallback) as T
    return (structuredClone(this.#written.get(key)) ?? fallback) as T
  }
  /** Is there a value for the key? */
  has(key: string): boolean {
    return this.#written.has(key) ? this.#written.get(key) !== null : this.#recorded.has(key)
  }
  /** Lists all keys. */
  keys(): string[] {
    const keys = new Set(this.#recorded.keys())
    for (const [key, value] of this.#written) {
      if (value === null) keys.delete(key)
      else keys.add(key)
    }
    return [...keys]
  }
  /** Sets a value, which must be JSON. */
  set(key: string, value: unknown): void {
    if (String(key).startsWith('derived:')) {
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `"${key}" is a computed value and cannot be set. Set the keys it is computed from.`,
      )
    }
    if (this.#lifecycle === 'closed') {
      throw new ToolwrightError('INVALID_REQUEST', `"${key}" cannot be set: the live session is closed.`)
    }
    const delta = toStateDelta({ [key]: value ?? null })
    this.#written.set(key, delta[key])
    this.#onWrite(key)
    if (!this.#unsaved) this.#saving = this.#saving.then(() => this.#save())
    this.#unsaved = { ...this.#unsaved, ...delta }
  }
  /** Deletes a key. */
  delete(key: string): void {
    this.set(key, null)
  }
  /** Settles when all writes are recorded. Never rejects: a write that cannot be recorded ends the session. */
  async saved(): Promise<void> {
    await this.#saving
  }
  /** Refuses later writes: the session is over. */
  close(): void {
    this.#lifecycle = 'closed'
  }

  async #save(): Promise<void> {
    const delta = this.#unsaved
    this.#unsaved = undefined
    if (!delta) return
    try {
      await this.#record(delta)
    } catch {
      // the run has stopped
    } finally {
      for (const key of Object.keys(delta)) if (this.#written.get(key) === delta[key]) this.#written.delete(key)
    }
  }
}
