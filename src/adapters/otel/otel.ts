import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { readTraceparent, writeTraceparent } from '../../core/base/traceparent.ts'
import { LABEL } from '../../engine/observe/metrics/metric-table.ts'
import { modelOperationOf, toolNameOf } from '../../engine/observe/metrics/operation-facts.ts'
import { type Measuring, RunMetrics } from '../../engine/observe/metrics/run-metrics.ts'
import type { Observer } from '../../engine/observe/observer.ts'
import type { Measurement, Operation, OperationEnd, RequestOperation } from '../../engine/observe/operation.ts'
import { OperationNotes } from '../../engine/observe/operation-notes.ts'
import { addFirstChunk, addReply, addSums, agentAttributes, modelAttributes, toolAttributes } from './attributes.ts'
import { ContentWriter } from './content.ts'
import { Meters } from './meters.ts'
import { ATTRIBUTE, SCHEMA_URL, SCOPE } from './names.ts'
import { capturesContent, checkOtelOptions, type OtelOptions } from './otel-options.ts'

/**
 * Traces and measures runs with OpenTelemetry: a span for each agent, model call and tool call, and metrics. It uses the SDK that the
 * program registers, and does nothing without one. No content is exported unless `captureContent` is set.
 *
 * @example
 * const runner = new Runner({ appName: 'shop', agent, observers: [otel()] })
 */
export function otel(options: OtelOptions = {}): Observer {
  checkOtelOptions(options)
  return new OtelObserver(options)
}

/** An operation that has a span. */
type SpannedOperation = Exclude<Operation, RequestOperation>

/** What is known of an operation under way. */
interface Started {
  readonly measuring: Measuring
  readonly span: Span
  /** The context in which the span is active. */
  readonly context: Context
}

class OtelObserver implements Observer {
  readonly #options: OtelOptions
  readonly #content: ContentWriter | undefined
  readonly #origins: ReadonlySet<string>
  readonly #tracer = trace.getTracerProvider().getTracer(SCOPE, undefined, { schemaUrl: SCHEMA_URL })
  readonly #meters = new Meters()
  readonly #metrics = new RunMetrics(this.#meters)
  readonly #started = new OperationNotes<Started>()

  constructor(options: OtelOptions) {
    this.#options = options
    this.#content = capturesContent(options) ? new ContentWriter(options.redact) : undefined
    this.#origins = new Set(options.propagateTo)
  }

  /** Programs may register an SDK after they have made their runners. */
  isIdle(): boolean {
    const provider = trace.getTracerProvider()
    const isTraced = !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(SCOPE) !== undefined
    return !isTraced && this.#meters.isIdle
  }

  around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    const around = operation.parent && this.#started.get(operation.parent)
    const measuring = this.#metrics.begin(operation, around?.measuring)
    if (operation.type === 'request') return next().then((end) => void this.#metrics.end(operation, measuring, end))
    const started = this.#start(operation, measuring, around)
    this.#started.set(operation, started)
    return context.with(started.context, next).then((end) => this.#end(operation, started, end))
  }

  traceOf(operation: Operation): string | undefined {
    const spanContext = this.#started.get(operation)?.span.spanContext()
    return spanContext && isSpanContextValid(spanContext) ? writeTraceparent(spanContext) : undefined
  }

  traceFor(operation: Operation, origin: string): string | undefined {
    return this.#origins.has(origin) ? this.traceOf(operation) : undefined
  }

  measure(measurement: Measurement): void {
    this.#metrics.measure(measurement)
  }

  #start(operation: SpannedOperation, measuring: Measuring, around: Started | undefined): Started {
    const { name, kind, attributes } = describe(operation)
    if (this.#options.captureUserId) attributes[ATTRIBUTE.user] = operation.run.userId
    const options: SpanOptions = { kind, attributes }
    const startedAt = 'startedAt' in operation ? operation.startedAt : undefined
    // a Date: the API takes a number from before the process for one of another clock
    if (startedAt !== undefined) options.startTime = new Date(startedAt)
    if ('links' in operation && operation.links.length) options.links = operation.links.flatMap(linkTo)
    const parent = around ? around.context : this.#contextOfRun(operation, options)
    const span = this.#tracer.startSpan(name, options, parent)
    if (this.#content && span.isRecording()) span.setAttributes(this.#content.ofStart(operation))
    return { measuring, span, context: trace.setSpan(parent, span) }
  }

  /** The context that a run begins in: the trace that its invocation has, that of its caller, or none. Adds links to the options. */
  #contextOfRun(operation: SpannedOperation, options: SpanOptions): Context {
    const { run } = operation
    const active = context.active()
    const caller = operation.type === 'run' ? callerContext(active, operation.traceparent) : active
    const recorded = readTraceparent(run.recordedTrace)
    if (this.#options.traces !== 'run' && !recorded) return caller
    options.links = [
      ...(options.links ?? []),
      ...linkTo(run.recordedTrace),
      ...linkToSpan(trace.getSpanContext(caller)),
    ]
    if (this.#options.traces === 'run') return trace.deleteSpan(active)
    return recorded ? trace.setSpanContext(active, { ...recorded, isRemote: true }) : caller
  }

  #end(operation: SpannedOperation, { measuring, span }: Started, end: OperationEnd): void {
    const { errorType, tokens, sums } = this.#metrics.end(operation, measuring, end)
    if (span.isRecording()) {
      const attributes: Attributes = { [LABEL.outcome]: end.outcome }
      if (errorType !== undefined) {
        attributes[LABEL.error] = errorType
        const message = this.#content?.ofError(end.error)
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
      }
      if (tokens) addReply(attributes, end, tokens)
      if (operation.type === 'model' && operation.stream) addFirstChunk(attributes, end)
      if (sums) addSums(attributes, sums)
      if (this.#content) Object.assign(attributes, this.#content.ofEnd(operation, end))
      span.setAttributes(attributes)
    }
    span.end()
  }
}

/** The name of a span, and what samplers see of it. */
function describe(operation: SpannedOperation): { name: string; kind: SpanKind; attributes: Attributes } {
  switch (operation.type) {
    case 'run':
    case 'agent':
      return {
        name: `invoke_agent ${operation.agent}`,
        kind: SpanKind.INTERNAL,
        attributes: agentAttributes(operation),
      }
    case 'model':
      return {
        name: `${modelOperationOf(operation)} ${operation.model}`,
        kind: SpanKind.CLIENT,
        attributes: modelAttributes(operation),
      }
    default:
      return {
        name: `execute_tool ${toolNameOf(operation)}`,
        kind: SpanKind.INTERNAL,
        attributes: toolAttributes(operation),
      }
  }
}

/** The context of a caller that names a span. The active span wins if it belongs to the same trace: it is nearer. */
function callerContext(active: Context, traceparent: string | undefined): Context {
  const named = readTraceparent(traceparent)
  if (!named || trace.getSpanContext(active)?.traceId === named.traceId) return active
  return trace.setSpanContext(active, { ...named, isRemote: true })
}

function linkTo(traceparent: string | undefined): Link[] {
  const reference = readTraceparent(traceparent)
  return reference ? [{ context: { ...reference, isRemote: true } }] : []
}

function linkToSpan(spanContext: Link['context'] | undefined): Link[] {
  return spanContext && isSpanContextValid(spanContext) ? [{ context: spanContext }] : []
}
