import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Link,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { readTraceparent, writeTraceparent } from '../../core/base/traceparent.ts'
import { LABEL } from '../../engine/observe/metrics/metric-table.ts'
import { modelOperationOf, toolNameOf } from '../../engine/observe/metrics/operation-facts.ts'
import { RunMetrics } from '../../engine/observe/metrics/run-metrics.ts'
import type { Observer } from '../../engine/observe/observer.ts'
import type { Measurement, Operation, OperationEnd, RequestOperation } from '../../engine/observe/operation.ts'
import { agentAttributes, modelAttributes, replyAttributes, tokenAttributes, toolAttributes } from './attributes.ts'
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
  readonly span: Span
  /** The context in which the span is active. */
  readonly context: Context
}

class OtelObserver implements Observer {
  readonly #options: OtelOptions
  readonly #content: ContentWriter | undefined
  readonly #origins: ReadonlySet<string>
  readonly #tracer = trace.getTracerProvider().getTracer(SCOPE, undefined, { schemaUrl: SCHEMA_URL })
  readonly #metrics = new RunMetrics(new Meters())
  /** By operation: an operation may outlive the one around it, such as a tool in the background. */
  readonly #started: WeakMap<Operation, Started> = new WeakMap()

  constructor(options: OtelOptions) {
    this.#options = options
    this.#content = capturesContent(options) ? new ContentWriter(options.redact) : undefined
    this.#origins = new Set(options.propagateTo)
  }

  around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    this.#metrics.begin(operation)
    if (operation.type === 'request') return next().then((end) => void this.#metrics.end(operation, end))
    const started = this.#start(operation)
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

  #start(operation: SpannedOperation): Started {
    const { name, kind, attributes } = this.#describe(operation)
    if (this.#options.captureUserId) attributes[ATTRIBUTE.user] = operation.run.userId
    const options: SpanOptions = { kind, attributes }
    const startedAt = 'startedAt' in operation ? operation.startedAt : undefined
    // a Date: the API takes a number from before the process for one of another clock
    if (startedAt !== undefined) options.startTime = new Date(startedAt)
    const parent = this.#parentOf(operation, options)
    const span = this.#tracer.startSpan(name, options, parent)
    return { span, context: trace.setSpan(parent, span) }
  }

  #describe(operation: SpannedOperation): { name: string; kind: SpanKind; attributes: Attributes } {
    switch (operation.type) {
      case 'run':
      case 'agent':
        return {
          name: `invoke_agent ${operation.agent}`,
          kind: SpanKind.INTERNAL,
          attributes: agentAttributes(operation),
        }
      case 'model': {
        const attributes = modelAttributes(operation)
        if (this.#content) Object.assign(attributes, this.#content.ofRequest(operation))
        return { name: `${modelOperationOf(operation)} ${operation.model}`, kind: SpanKind.CLIENT, attributes }
      }
      default: {
        const attributes = toolAttributes(operation)
        if (this.#content) Object.assign(attributes, this.#content.ofArguments(operation.args))
        return { name: `execute_tool ${toolNameOf(operation)}`, kind: SpanKind.INTERNAL, attributes }
      }
    }
  }

  /** The context of the span around a new one. Adds links to the options. */
  #parentOf(operation: SpannedOperation, options: SpanOptions): Context {
    if ('links' in operation && operation.links.length) options.links = operation.links.flatMap(linkTo)
    const around = operation.parent && this.#started.get(operation.parent)
    if (around) return around.context
    return this.#contextOfRun(operation, options)
  }

  /** The context that a run begins in: the trace that its invocation has, that of its caller, or none. */
  #contextOfRun({ run, ...operation }: SpannedOperation, options: SpanOptions): Context {
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

  #end(operation: SpannedOperation, { span }: Started, end: OperationEnd): void {
    const { errorType, tokens, sums } = this.#metrics.end(operation, end)
    const attributes: Attributes = { [LABEL.outcome]: end.outcome }
    if (errorType !== undefined) {
      attributes[LABEL.error] = errorType
      const message = this.#content?.ofError(end.error)
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
    }
    if (operation.type === 'model') {
      Object.assign(attributes, tokens && replyAttributes(end, tokens, operation.stream), this.#content?.ofReply(end))
    } else if (operation.type === 'tool' || operation.type === 'call') {
      Object.assign(attributes, this.#content?.ofResult(end))
    } else if (sums) {
      Object.assign(attributes, tokenAttributes(sums))
      if (sums.provider !== undefined) attributes[LABEL.provider] = sums.provider
    }
    span.setAttributes(attributes)
    span.end()
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
