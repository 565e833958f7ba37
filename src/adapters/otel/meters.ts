import { type Counter, createNoopMeter, type Histogram, type MeterProvider, metrics } from '@opentelemetry/api'
import { type Labels, METRICS, type MetricName } from '../../engine/observe/metrics/metric-table.ts'
import type { MetricSink } from '../../engine/observe/metrics/run-metrics.ts'
import { SCHEMA_URL, SCOPE } from './names.ts'

/** The instruments of the meter provider that is registered now: programs may register one after they have made their runners. */
export class Meters implements MetricSink {
  #provider: MeterProvider | undefined
  #isIdle = true
  readonly #histograms: Map<string, Histogram> = new Map()
  readonly #counters: Map<string, Counter> = new Map()

  /** Whether no meter provider is registered. */
  get isIdle(): boolean {
    this.#refresh()
    return this.#isIdle
  }

  /** Adds a value to a metric. */
  record(metric: MetricName, value: number, labels: Labels): void {
    this.#refresh()
    this.#histograms.get(metric)?.record(value, labels)
    this.#counters.get(metric)?.add(value, labels)
  }

  #refresh(): void {
    const provider = metrics.getMeterProvider()
    if (provider === this.#provider) return
    this.#provider = provider
    const meter = provider.getMeter(SCOPE, undefined, { schemaUrl: SCHEMA_URL })
    this.#isIdle = meter === createNoopMeter()
    for (const [metric, { name, unit, description, buckets }] of Object.entries(METRICS)) {
      const advice = { explicitBucketBoundaries: [...(buckets ?? [])] }
      if (buckets) this.#histograms.set(metric, meter.createHistogram(name, { unit, description, advice }))
      else this.#counters.set(metric, meter.createCounter(name, { unit, description }))
    }
  }
}
