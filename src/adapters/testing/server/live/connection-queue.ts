import type { GeminiLiveConnection } from '../../gemini-live-script.ts'

/** The connections that no test has asked for yet, and the tests that wait for one. */
export class ConnectionQueue {
  readonly #ready: GeminiLiveConnection[] = []
  readonly #waiters: PromiseWithResolvers<GeminiLiveConnection>[] = []
  #isEnded = false

  /** Adds a connection, or gives it to the first test that waits. */
  add(connection: GeminiLiveConnection): void {
    const waiter = this.#waiters.shift()
    if (waiter) waiter.resolve(connection)
    else this.#ready.push(connection)
  }

  /** The next connection. Rejects when the server is closed. */
  next(): Promise<GeminiLiveConnection> {
    const connection = this.#ready.shift()
    if (connection) return Promise.resolve(connection)
    if (this.#isEnded) return Promise.reject(serverClosed())
    const waiter = Promise.withResolvers<GeminiLiveConnection>()
    waiter.promise.catch(() => {}) // a test may no longer wait when the server is closed
    this.#waiters.push(waiter)
    return waiter.promise
  }

  /** Rejects everything that waits for a connection. */
  end(): void {
    this.#isEnded = true
    for (const { reject } of this.#waiters.splice(0)) reject(serverClosed())
  }
}

function serverClosed(): Error {
  return new Error('geminiLiveServer() was closed before the next client connected.')
}
