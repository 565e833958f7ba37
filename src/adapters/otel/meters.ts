// The metrics. Their attributes come from a limited number of names.

import { type Attributes, type Counter, type Histogram, type MeterProvider, metrics } from '@opentelemetry/api'
import { HISTOGRAMS, type HistogramName, OTHER, SCHEMA_URL, SCOPE, TAKEOVERS } from './names.ts'

/** The most names of one kind, such as tools. */
const MAX_NAMES = 200

/** The instruments of the meter provider that is registered now: programs may register one after they have made their runners. */
export class Meters {
  readonly #names: Map<string, Set<string>> = new Map()
  #provider: MeterProvider | undefined
  #histograms: ReadonlyMap<string, Histogram> = new Map()
  #takeovers: Counter | undefined

  /** Adds a value to a histogram. */
  record(histogram: HistogramName, value: number, attributes: Attributes): void {
    this.#refresh()
    this.#histograms.get(histogram)?.record(value, attributes)
  }

  /** Counts a session that was taken over. */
  countTakeover(): void {
    this.#refresh()
    this.#takeovers?.add(1)
  }

  /** The name, or `_OTHER` when there are too many of its kind. */
  limited(kind: string, name: string): string {
    let names = this.#names.get(kind)
    if (!names) {
      names = new Set()
      this.#names.set(kind, names)
    }
    if (names.size < MAX_NAMES) names.add(name)
    return names.has(name) ? name : OTHER
  }

  #refresh(): void {
    const provider = metrics.getMeterProvider()
    if (provider === this.#provider) return
    this.#provider = provider
    const meter = provider.getMeter(SCOPE, undefined, { schemaUrl: SCHEMA_URL })
    this.#histograms = new Map(
      Object.entries(HISTOGRAMS).map(([key, { name, unit, description, buckets }]) => {
        const advice = { explicitBucketBoundaries: [...buckets] }
        return [key, meter.createHistogram(name, { unit, description, advice })]
      }),
    )
    const { name, ...takeovers } = TAKEOVERS
    this.#takeovers = meter.createCounter(name, takeovers)
  }
}
