// Plugins that look at events: they see each before it is stored or yielded, one after another, and may change it.
import type { Ports } from '../../base/ports.ts'
import type { Event, NewEntry } from '../../event/event.ts'
import type { InvocationHost } from '../../tool/invocation-host.ts'
import type { Plugin } from './plugin.ts'
import { showEvent, type Warn } from './show-event.ts'

/** How long plugins may still look at a run that was stopped. */
export const BRIEFLY_MS = 1_000

export class EventWatch {
  readonly #watchers: readonly Plugin[]
  readonly #host: InvocationHost
  readonly #warn: Warn
  /** Scopes plugins are not to see. */
  readonly #hidden: string[] = []
  /** Partial events on their way past the plugins. */
  #passing: Promise<void> | undefined
  /** How many they are. */
  passing = 0

  constructor(watchers: readonly Plugin[], host: InvocationHost, warn: Warn) {
    this.#watchers = watchers
    this.#host = host
    this.#warn = warn
  }

  hide(path: string): void {
    if (!this.#hidden.includes(path)) this.#hidden.push(path)
  }

  /** Shows a partial event; those before it come first. */
  pass(event: Event, then: (shown: Event) => void, fail: (error: unknown) => void): void {
    const before = this.#passing
    const showing = async (): Promise<void> => {
      await before
      then(await this.#one(event))
    }
    this.passing++
    this.#passing = showing()
      .catch(fail)
      .finally(() => this.passing--)
  }

  /** Settles when every partial event has passed. */
  async passed(): Promise<void> {
    await this.#passing
  }

  async show(entries: readonly NewEntry[]): Promise<readonly NewEntry[]> {
    await this.#passing
    const shown: NewEntry[] = []
    for (const entry of entries) shown.push(entry.event ? { event: await this.#one(entry.event) } : entry)
    return shown
  }

  /** A plugin that hangs or fails does not keep the end of a run out of its log. */
  showBriefly(entries: readonly NewEntry[], ports: Ports): Promise<readonly NewEntry[]> {
    return new Promise((resolve) => {
      const cancelTimer = ports.setTimer(() => resolve(entries), BRIEFLY_MS)
      this.show(entries)
        .then(resolve, () => resolve(entries))
        .finally(cancelTimer)
    })
  }

  #one(event: Event): Promise<Event> {
    const path = event.nodeInfo?.path ?? ''
    const isHidden = this.#hidden.some((scope) => path === scope || path.startsWith(`${scope}/`))
    return isHidden ? Promise.resolve(event) : showEvent(this.#watchers, this.#host, event, this.#warn)
  }
}
