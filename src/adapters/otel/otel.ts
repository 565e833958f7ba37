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
import type { Observer } from '../../engine/observe/observer.ts'
import type {
  AgentOperation,
  CallOperation,
  Measurement,
  ModelOperation,
  Operation,
  OperationEnd,
  RequestOperation,
  RunOperation,
  ToolOperation,
} from '../../engine/observe/operation.ts'
import {
  agentAttributes,
  modelAttributes,
  modelOperationOf,
  replyAttributes,
  tokenAttributes,
  tokensOf,
  toolAttributes,
  toolNameOf,
  UNKNOWN_PROVIDER,
} from './attributes.ts'
import { ContentWriter } from './content.ts'
import { errorTypeOf } from './error-type.ts'
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
  /** When it began, in milliseconds on the clock of durations. */
  readonly startedAt: number
  /** Sums of an agent, with those of agents below it. */
  readonly sums: Sums
}

interface Sums {
  modelCalls: number
  toolCalls: number
  input: number | undefined
  output: number | undefined
  provider: string | undefined
}

class OtelObserver implements Observer {
  readonly #options: OtelOptions
  readonly #content: ContentWriter | undefined
  readonly #origins: ReadonlySet<string>
  readonly #tracer = trace.getTracerProvider().getTracer(SCOPE, undefined, { schemaUrl: SCHEMA_URL })
  readonly #meters = new Meters()
  /** By operation: an operation may outlive the one around it, such as a tool in the background. */
  readonly #started: WeakMap<Operation, Started> = new WeakMap()

  constructor(options: OtelOptions) {
    this.#options = options
    this.#content = capturesContent(options) ? new ContentWriter(options.redact) : undefined
    this.#origins = new Set(options.propagateTo)
  }

  around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    if (operation.type === 'request') return next().then((end) => this.#measureRequest(operation, end))
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
    if (measurement.type === 'takeover') this.#meters.countTakeover()
    else
      this.#meters.record(
        measurement.type === 'append' ? 'appendDuration' : 'recoveryDuration',
        measurement.seconds,
        NO_ATTRIBUTES,
      )
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
    return {
      span,
      context: trace.setSpan(parent, span),
      startedAt: startedAt === undefined ? performance.now() : performance.now() - (Date.now() - startedAt),
      sums: { modelCalls: 0, toolCalls: 0, input: undefined, output: undefined, provider: undefined },
    }
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

  #end(operation: SpannedOperation, started: Started, end: OperationEnd): void {
    const { span, startedAt } = started
    const seconds = Math.max(0, (performance.now() - startedAt) / 1000)
    const hasFailed = end.outcome === 'failed' || end.outcome === 'unknown'
    const errorType = hasFailed ? errorTypeOf(end.errorCode) : undefined
    const attributes: Attributes = { [ATTRIBUTE.outcome]: end.outcome }
    if (errorType !== undefined) {
      attributes[ATTRIBUTE.error] = errorType
      const message = this.#content?.ofError(end.error)
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
    }
    const measured = { seconds, errorType }
    if (operation.type === 'model') this.#endModel(operation, { end, attributes, measured })
    else if (operation.type === 'tool' || operation.type === 'call')
      this.#endCall(operation, { end, attributes, measured })
    else this.#endAgent(operation, started.sums, { attributes, measured })
    span.setAttributes(attributes)
    span.end()
  }

  #endModel(operation: ModelOperation, { end, attributes, measured }: Ending): void {
    const tokens = tokensOf(end.response?.usageMetadata)
    Object.assign(attributes, replyAttributes(end, tokens, operation.stream))
    if (this.#content) Object.assign(attributes, this.#content.ofReply(end))
    const provider = operation.provider ?? UNKNOWN_PROVIDER
    this.#eachAbove(operation, (sums) => {
      sums.modelCalls++
      sums.provider ??= provider
      if (tokens.input !== undefined) sums.input = (sums.input ?? 0) + tokens.input
      if (tokens.output !== undefined) sums.output = (sums.output ?? 0) + tokens.output
    })
    const about: Attributes = {
      [ATTRIBUTE.operation]: modelOperationOf(operation),
      [ATTRIBUTE.provider]: provider,
      [ATTRIBUTE.requestModel]: this.#meters.limited('model', operation.model),
    }
    this.#meters.record('modelDuration', measured.seconds, withError(about, measured.errorType))
    if (tokens.input !== undefined)
      this.#meters.record('tokens', tokens.input, { ...about, [ATTRIBUTE.tokenType]: 'input' })
    if (tokens.output !== undefined)
      this.#meters.record('tokens', tokens.output, { ...about, [ATTRIBUTE.tokenType]: 'output' })
  }

  #endCall(operation: ToolOperation | CallOperation, { end, attributes, measured }: Ending): void {
    if (this.#content) Object.assign(attributes, this.#content.ofResult(end))
    const isFirst = operation.type === 'tool' ? operation.attempt === 1 : end.outcome !== 'paused'
    if (isFirst) this.#eachAbove(operation, (sums) => void sums.toolCalls++)
    if (operation.type === 'call' && measured.errorType === undefined) return // no body ran, and nothing failed
    const about = {
      [ATTRIBUTE.operation]: 'execute_tool',
      [ATTRIBUTE.tool]: this.#meters.limited('tool', toolNameOf(operation)),
    }
    this.#meters.record('toolDuration', measured.seconds, withError(about, measured.errorType))
  }

  #endAgent(operation: RunOperation | AgentOperation, sums: Sums, { attributes, measured }: Omit<Ending, 'end'>): void {
    Object.assign(attributes, tokenAttributes(sums))
    if (sums.provider !== undefined) attributes[ATTRIBUTE.provider] = sums.provider
    const about = {
      [ATTRIBUTE.operation]: 'invoke_agent',
      [ATTRIBUTE.agent]: this.#meters.limited('agent', operation.agent),
    }
    const withType = withError(about, measured.errorType)
    this.#meters.record('agentDuration', measured.seconds, withType)
    this.#meters.record('inferenceCalls', sums.modelCalls, withType)
    this.#meters.record('toolCalls', sums.toolCalls, withType)
  }

  /** Adds to the sums of all agents around an operation. */
  #eachAbove(operation: Operation, add: (sums: Sums) => void): void {
    for (let at = operation.parent; at; at = at.parent) {
      const started = at.type === 'run' || at.type === 'agent' ? this.#started.get(at) : undefined
      if (started) add(started.sums)
    }
  }

  #measureRequest({ kind, startedAt, tool }: RequestOperation, { outcome }: OperationEnd): void {
    if (kind !== 'confirmation') return
    const about = { [ATTRIBUTE.tool]: this.#meters.limited('tool', tool), [ATTRIBUTE.outcome]: outcome }
    this.#meters.record('approvalWait', Math.max(0, (Date.now() - startedAt) / 1000), about)
  }
}

/** What an ended operation exports. */
interface Ending {
  readonly end: OperationEnd
  /** The attributes of the span. */
  readonly attributes: Attributes
  readonly measured: { readonly seconds: number; readonly errorType: string | undefined }
}

const NO_ATTRIBUTES: Attributes = {}

function withError(attributes: Attributes, errorType: string | undefined): Attributes {
  return errorType === undefined ? attributes : { ...attributes, [ATTRIBUTE.error]: errorType }
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
