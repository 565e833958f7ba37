import {
  type Labels,
  METRICS,
  type MetricFacts,
  type MetricName,
} from '../../../engine/observe/metrics/metric-table.ts'
import { type Measuring, type MetricSink, RunMetrics } from '../../../engine/observe/metrics/run-metrics.ts'
import type { Observer } from '../../../engine/observe/observer.ts'
import type { Measurement, Operation, OperationEnd } from '../../../engine/observe/operation.ts'
import { OperationNotes } from '../../../engine/observe/operation-notes.ts'
import { HistogramSamples, labelsOf, toName, valueLines } from './samples.ts'

/** What runs do, for `/metrics`: the figures that `otel()` exports, with their names in the form of Prometheus. */
export class RunFigures implements Observer, MetricSink {
  readonly #metrics = new RunMetrics(this)
  readonly #measuring = new OperationNotes<Measuring>()
  readonly #histograms: Map<MetricName, HistogramSamples> = new Map()
  readonly #counters: Map<MetricName, number> = new Map()

  constructor() {
    for (const [metric, facts] of Object.entries(METRICS) as [MetricName, MetricFacts][]) {
      if (facts.buckets) this.#histograms.set(metric, new HistogramSamples(sampleFacts(facts), facts.buckets))
      else this.#counters.set(metric, 0)
    }
  }

  /** Measures an operation. */
  async around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    const measuring = this.#metrics.begin(operation, operation.parent && this.#measuring.get(operation.parent))
    this.#measuring.set(operation, measuring)
    this.#metrics.end(operation, measuring, await next())
  }

  /** Measures a store or a worker. */
  measure(measurement: Measurement): void {
    this.#metrics.measure(measurement)
  }

  /** Adds a value to a metric. */
  record(metric: MetricName, value: number, labels: Labels): void {
    const histogram = this.#histograms.get(metric)
    if (histogram) histogram.record(value, labelsOf(labels))
    else this.#counters.set(metric, (this.#counters.get(metric) ?? 0) + value)
  }

  /** The lines of all metrics. */
  *lines(): Iterable<string> {
    for (const histogram of this.#histograms.values()) yield* histogram.lines()
    for (const [metric, value] of this.#counters) yield* valueLines(sampleFacts(METRICS[metric]), 'counter', value)
  }
}

/** Names end with their unit, and those of counters with `_total`. */
function sampleFacts({ name, unit, description, buckets }: MetricFacts): { name: string; help: string } {
  const suffix = buckets ? (unit === 's' ? '_seconds' : '') : '_total'
  return { name: `${toName(name)}${suffix}`, help: description }
}
