import type { JsonObject } from '../../../../core/base/json.ts'

const MAX_MESSAGES = 1_000

/** The messages of one client, in order, and the tests that wait for one. */
export class ReceivedMessages {
  /** The latest messages. */
  readonly all: JsonObject[] = []
  readonly #unread = new Map<string, JsonObject[]>()
  readonly #waiters = new Map<string, PromiseWithResolvers<JsonObject>[]>()
  #end: string | undefined

  /** Adds a message, for each of its keys. */
  add(message: JsonObject): void {
    append(this.all, message)
    for (const key of Object.keys(message)) {
      const waiter = this.#waiters.get(key)?.shift()
      if (waiter) waiter.resolve(message)
      else append(listOf(this.#unread, key), message)
    }
  }

  /** The next message with the key that was not returned yet. Rejects when the connection ends. */
  next(key: string): Promise<JsonObject> {
    const message = this.#unread.get(key)?.shift()
    if (message) return Promise.resolve(message)
    if (this.#end !== undefined) return Promise.reject(noMore(key, this.#end))
    const waiter = Promise.withResolvers<JsonObject>()
    waiter.promise.catch(() => {}) // a test may no longer wait when the connection ends
    listOf(this.#waiters, key).push(waiter)
    return waiter.promise
  }

  /** Rejects everything that waits for a message. */
  end(reason: string): void {
    this.#end ??= reason
    for (const [key, waiters] of this.#waiters) for (const { reject } of waiters) reject(noMore(key, reason))
    this.#waiters.clear()
  }
}

function listOf<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}

function append(list: JsonObject[], message: JsonObject): void {
  list.push(message)
  if (list.length > MAX_MESSAGES) list.shift()
}

function noMore(key: string, reason: string): Error {
  return new Error(`The connection of the client ended before a message with "${key}" arrived: ${reason}`)
}
