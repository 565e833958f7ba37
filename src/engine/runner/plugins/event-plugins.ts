// Calls `onEvent` of the plugins of a run, before its events are recorded or yielded.
import type { Ports } from '../../../core/base/ports.ts'
import type { Event, NewEntry } from '../../../core/event/event.ts'
import type { InvocationHost } from '../../context/invocation-host.ts'
import { applyEventPlugins, type Warn } from './apply-event-plugins.ts'
import type { Plugin } from './plugin.ts'

/** How long a stopped run waits for its plugins. */
export const STOP_TIMEOUT_MS = 1_000

/** The plugins with `onEvent`. Events pass them one after another, partial events included. */
export class EventPlugins {
  readonly #plugins: readonly Plugin[]
  readonly #host: InvocationHost
  readonly #warn: Warn
  /** Scope paths whose events plugins do not see. */
  readonly #excluded: string[] = []
  /** The latest partial event in flight, and those before it. */
  #partials: Promise<void> | undefined
  /** How many partial events plugins have not finished yet. */
  partialsInFlight = 0

  constructor(plugins: readonly Plugin[], host: InvocationHost, warn: Warn) {
    this.#plugins = plugins
    this.#host = host
    this.#warn = warn
  }

  /** Hides the events of this scope path, and of the scopes below it, from plugins. */
  exclude(path: string): void {
    if (!this.#excluded.includes(path)) this.#excluded.push(path)
  }

  /** Passes a partial event to the plugins, after the partial events before it, and its changed version to `emit`. */
  applyToPartial(event: Event, emit: (changed: Event) => void, fail: (error: unknown) => void): void {
    const before = this.#partials
    const applying = async (): Promise<void> => {
      await before
      emit(await this.#applyToEvent(event))
    }
    this.partialsInFlight++
    this.#partials = applying()
      .catch(fail)
      .finally(() => this.partialsInFlight--)
  }

  /** Settles when no partial event is in flight. */
  async partialsSettled(): Promise<void> {
    await this.#partials
  }

  /** The entries as plugins changed them, after the partial events in flight. */
  async apply(entries: readonly NewEntry[]): Promise<readonly NewEntry[]> {
    await this.#partials
    const changed: NewEntry[] = []
    for (const entry of entries) changed.push(entry.event ? { event: await this.#applyToEvent(entry.event) } : entry)
    return changed
  }

  /** As `apply`, for a run that ends: if a plugin fails or takes too long, the entries are recorded unchanged. */
  applyWithTimeout(entries: readonly NewEntry[], ports: Ports): Promise<readonly NewEntry[]> {
    return new Promise((resolve) => {
      const cancelTimer = ports.setTimer(() => resolve(entries), STOP_TIMEOUT_MS)
      this.apply(entries)
        .then(resolve, () => resolve(entries))
        .finally(cancelTimer)
    })
  }

  #applyToEvent(event: Event): Promise<Event> {
    const path = event.nodeInfo?.path ?? ''
    const isExcluded = this.#excluded.some((scope) => path === scope || path.startsWith(`${scope}/`))
    return isExcluded ? Promise.resolve(event) : applyEventPlugins(this.#plugins, this.#host, event, this.#warn)
  }
}
