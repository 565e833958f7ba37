// A real SDK in memory: what a program exports, as the tests read it.

import { context, metrics, type SpanContext, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { onTestFinished } from 'vitest'

/** Registers an SDK until the test ends. */
export function registerSdk({ sampler }: { readonly sampler?: Sampler } = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...(sampler && { sampler }),
  })
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  metrics.setGlobalMeterProvider(meterProvider)
  onTestFinished(async () => {
    trace.disable()
    metrics.disable()
    context.disable()
    await meterProvider.shutdown()
  })
  return {
    /** The spans that have ended, in order. */
    spans: (): ReadableSpan[] => exporter.getFinishedSpans(),
    /** The span with this name; the latest of several. */
    span(name: string): ReadableSpan {
      const found = exporter.getFinishedSpans().findLast((span) => span.name === name)
      if (!found) throw new Error(`There is no span "${name}".`)
      return found
    },
    /** The data points of a metric. */
    async points(name: string): Promise<DataPoint<number | Histogram>[]> {
      await reader.forceFlush()
      const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? []
      const found = scopes.flatMap((scope) => scope.metrics).find((metric) => metric.descriptor.name === name)
      return (found?.dataPoints ?? []) as DataPoint<number | Histogram>[]
    },
    /** The names of all metrics, with their units. */
    async metricNames(): Promise<string[]> {
      await reader.forceFlush()
      const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? []
      return scopes.flatMap((scope) => scope.metrics.map(({ descriptor }) => `${descriptor.name} ${descriptor.unit}`))
    },
    /** All that was exported, as text. */
    async text(): Promise<string> {
      await reader.forceFlush()
      const spans = exporter.getFinishedSpans().map(({ name, attributes, status, events, links, resource }) => {
        return { name, attributes, status, events, links, resource: resource.attributes }
      })
      return JSON.stringify([spans, metricExporter.getMetrics().map(({ scopeMetrics }) => scopeMetrics)])
    },
  }
}

/** The span that another one names as its parent. */
export const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId

/** The id of a span. */
export const idOf = (span: ReadableSpan): string => contextOf(span).spanId

/** The trace of a span. */
export const traceOf = (span: ReadableSpan): string => contextOf(span).traceId

const contextOf = (span: ReadableSpan): SpanContext => span.spanContext()
