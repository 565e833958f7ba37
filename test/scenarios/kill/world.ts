// The outside world: a server that outlives the processes which call it, deduplicates by key, and can keep a caller
// waiting for ever at a chosen point, so that it is killed exactly there.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Visit } from './outside.ts'

/** What `reconcile` is told; `truth` = what the world knows. */
export type Reconciled = 'truth' | 'unknown'

export class World {
  readonly url: string
  /** Everybody who came, in order. */
  readonly visits: Visit[] = []
  /** What took effect, by key: the same key again changes nothing. */
  readonly applied: Map<string, string> = new Map()
  reconciled: Reconciled = 'truth'
  #holds: { readonly point: string; readonly arrived: () => void }[] = []
  #listeners: ((visit: Visit) => void)[] = []

  /** Closed when the test is over. */
  static async open(): Promise<World> {
    const server = createServer((request, response) => void world.#answer(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const world = new World(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return world
  }

  private constructor(url: string) {
    this.url = url
  }

  /** Whoever comes to this point next stays there; settles when they have come. */
  hold(point: string): Promise<void> {
    return new Promise((arrived) => this.#holds.push({ point, arrived }))
  }

  /** Settles at the first visit of which it is so. */
  saw(isIt: (visit: Visit) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const listener = (visit: Visit): void => {
        if (!isIt(visit)) return
        this.#listeners = this.#listeners.filter((other) => other !== listener)
        resolve()
      }
      this.#listeners.push(listener)
    })
  }

  /** The keys under which somebody came to this point. */
  keysAt(point: string): string[] {
    return this.visits.filter((visit) => visit.point === point).map(({ key = '' }) => key)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = (await json(request)) as Visit // only our own processes know the address
    this.visits.push(visit)
    const answer = this.#react(visit)
    const held = this.#holds.find(({ point }) => point === visit.point)
    this.#holds = this.#holds.filter((one) => one !== held)
    for (const listener of this.#listeners) listener(visit)
    if (held) held.arrived()
    else response.end(JSON.stringify(answer))
  }

  #react({ point, key = '' }: Visit): object {
    const [what] = point.split(' ')
    if (what === 'effect') {
      const isNew = !this.applied.has(key)
      if (isNew) this.applied.set(key, point)
      return { paid: true, isNew }
    }
    if (what !== 'reconcile') return {}
    if (this.reconciled === 'unknown') return { status: 'unknown' }
    return this.applied.has(key) ? { status: 'done', result: { paid: 'found' } } : { status: 'not-done' }
  }
}
