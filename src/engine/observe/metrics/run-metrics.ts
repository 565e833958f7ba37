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
} from '../operation.ts'
import { errorTypeOf } from './error-type.ts'
import { LABEL, type Labels, type MetricName, OTHER, UNKNOWN_PROVIDER } from './metric-table.ts'
import { modelOperationOf, type Tokens, tokensOf, toolNameOf } from './operation-facts.ts'

/** Gets the values of metrics: a counter is increased by its value, a histogram counts it. */
export interface MetricSink {
  /** Whether no one wants values now. Default: someone does. */
  readonly isIdle?: boolean
  /** Adds a value. */
  record(metric: MetricName, value: number, labels: Labels): void
}

/** Sums of an agent, with those of agents below it. */
export interface Sums extends Pick<Tokens, 'input' | 'output'> {
  /** The provider of its first model call. */
  readonly provider: string | undefined
}

/** What is known of an operation that has ended. */
export interface Measured {
  /** The error, if it has failed or its outcome is unknown. */
  readonly errorType: string | undefined
  /** The tokens of a model call. */
  readonly tokens: Tokens | undefined
  /** The sums of an agent. */
  readonly sums: Sums | undefined
}

/** The most names of one kind, such as tools. */
const MAX_NAMES = 200

/** An operation under way, as `begin()` returns it. */
export interface Measuring {
  /** When it began, in milliseconds on the clock of durations. */
  readonly startedAt: number
  /** The operation around it. */
  readonly around: Measuring | undefined
  /** The sums of an agent. Undefined for other operations. */
  readonly sums: MutableSums | undefined
}

/** Measures the operations of runs. The labels come from a limited number of names, and hold nothing of users. */
export class RunMetrics {
  readonly #sink: MetricSink
  readonly #names: Map<string, Set<string>> = new Map()

  constructor(sink: MetricSink) {
    this.#sink = sink
  }

  /** Notes that an operation begins. The caller keeps what is returned: an operation may outlive the one around it. */
  begin(operation: Operation, around: Measuring | undefined): Measuring {
    const startedAt = 'startedAt' in operation ? operation.startedAt : undefined
    const now = performance.now()
    return {
      startedAt: startedAt === undefined ? now : now - (Date.now() - startedAt),
      around,
      sums: operation.type === 'run' || operation.type === 'agent' ? noSums() : undefined,
    }
  }

  /** Records the figures of an operation that ends. */
  end(operation: Operation, measuring: Measuring, end: OperationEnd): Measured {
    const seconds = Math.max(0, (performance.now() - measuring.startedAt) / 1000)
    const hasFailed = end.outcome === 'failed' || end.outcome === 'unknown'
    const errorType = hasFailed ? errorTypeOf(end.errorCode) : undefined
    const { sums } = measuring
    const ending = { seconds, errorType }
    switch (operation.type) {
      case 'model': {
        const tokens = tokensOf(end.response?.usageMetadata)
        addModelCall(measuring, operation, tokens)
        if (!this.#sink.isIdle) this.#recordModel(operation, tokens, ending)
        return { errorType, tokens, sums }
      }
      case 'tool':
      case 'call':
        if (isFirst(operation, end)) addToolCall(measuring)
        if (!this.#sink.isIdle) this.#recordCall(operation, ending)
        break
      case 'request':
        if (!this.#sink.isIdle) this.#recordRequest(operation, end, seconds)
        break
      default:
        if (sums && !this.#sink.isIdle) this.#recordAgent(operation, sums, ending)
    }
    return { errorType, tokens: undefined, sums }
  }

  /** Records a figure of a store or a worker. */
  measure(measurement: Measurement): void {
    if (this.#sink.isIdle) return
    if (measurement.type === 'takeover') this.#sink.record('takeovers', 1, NO_LABELS)
    else this.#sink.record(SECONDS_OF[measurement.type], measurement.seconds, NO_LABELS)
  }

  #recordModel(operation: ModelOperation, tokens: Tokens, { seconds, errorType }: Ending): void {
    const about: Labels = {
      [LABEL.operation]: modelOperationOf(operation),
      [LABEL.provider]: operation.provider ?? UNKNOWN_PROVIDER,
      [LABEL.requestModel]: this.#limited('model', operation.model),
    }
    this.#sink.record('modelDuration', seconds, withError(about, errorType))
    for (const type of ['input', 'output'] as const) {
      const count = tokens[type]
      if (count !== undefined) this.#sink.record('tokens', count, { ...about, [LABEL.tokenType]: type })
    }
  }

  #recordCall(operation: ToolOperation | CallOperation, { seconds, errorType }: Ending): void {
    if (operation.type === 'call' && errorType === undefined) return // no body ran, and nothing failed
    const about = {
      [LABEL.operation]: 'execute_tool',
      [LABEL.tool]: this.#limited('tool', toolNameOf(operation)),
    }
    this.#sink.record('toolDuration', seconds, withError(about, errorType))
  }

  #recordAgent({ agent }: RunOperation | AgentOperation, sums: MutableSums, { seconds, errorType }: Ending): void {
    const about = { [LABEL.operation]: 'invoke_agent', [LABEL.agent]: this.#limited('agent', agent) }
    const labels = withError(about, errorType)
    this.#sink.record('agentDuration', seconds, labels)
    this.#sink.record('inferenceCalls', sums.modelCalls, labels)
    this.#sink.record('toolCalls', sums.toolCalls, labels)
  }

  #recordRequest({ kind, tool }: RequestOperation, { outcome }: OperationEnd, seconds: number): void {
    if (kind !== 'confirmation') return
    const labels = { [LABEL.tool]: this.#limited('tool', tool), [LABEL.outcome]: outcome }
    this.#sink.record('approvalWait', seconds, labels)
  }

  /** The name, or `_OTHER` when there are too many of its kind. */
  #limited(kind: string, name: string): string {
    let names = this.#names.get(kind)
    if (!names) {
      names = new Set()
      this.#names.set(kind, names)
    }
    if (names.size < MAX_NAMES) names.add(name)
    return names.has(name) ? name : OTHER
  }
}

/** The first attempt of a call counts it; so does its end without one. */
function isFirst(operation: ToolOperation | CallOperation, { outcome }: OperationEnd): boolean {
  return operation.type === 'tool' ? operation.attempt === 1 : outcome !== 'paused'
}

/** Adds to the sums of all agents around a tool call. */
function addToolCall({ around }: Measuring): void {
  for (let at = around; at; at = at.around) if (at.sums) at.sums.toolCalls++
}

/** Adds to the sums of all agents around a model call. */
function addModelCall({ around }: Measuring, { provider }: ModelOperation, { input, output }: Tokens): void {
  for (let at = around; at; at = at.around) {
    const { sums } = at
    if (!sums) continue
    sums.modelCalls++
    sums.provider ??= provider ?? UNKNOWN_PROVIDER
    if (input !== undefined) sums.input = (sums.input ?? 0) + input
    if (output !== undefined) sums.output = (sums.output ?? 0) + output
  }
}

interface MutableSums {
  modelCalls: number
  toolCalls: number
  input: number | undefined
  output: number | undefined
  provider: string | undefined
}

function noSums(): MutableSums {
  return { modelCalls: 0, toolCalls: 0, input: undefined, output: undefined, provider: undefined }
}

interface Ending {
  readonly seconds: number
  readonly errorType: string | undefined
}

const NO_LABELS: Labels = {}

/** The metrics of measurements that are durations. */
const SECONDS_OF = { append: 'appendDuration', inbox: 'inboxAge', recovery: 'recoveryDuration' } as const

function withError(labels: Labels, errorType: string | undefined): Labels {
  return errorType === undefined ? labels : { ...labels, [LABEL.error]: errorType }
}
