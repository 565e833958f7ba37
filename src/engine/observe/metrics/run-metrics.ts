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

/** Measures the operations of runs. The labels come from a limited number of names, and hold nothing of users. */
export class RunMetrics {
  readonly #sink: MetricSink
  readonly #names: Map<string, Set<string>> = new Map()
  /** By operation: an operation may outlive the one around it, such as a tool in the background. */
  readonly #started: WeakMap<Operation, Started> = new WeakMap()

  constructor(sink: MetricSink) {
    this.#sink = sink
  }

  /** Notes that an operation begins. */
  begin(operation: Operation): void {
    const startedAt = 'startedAt' in operation ? operation.startedAt : undefined
    const now = performance.now()
    this.#started.set(operation, {
      at: startedAt === undefined ? now : now - (Date.now() - startedAt),
      sums: { modelCalls: 0, toolCalls: 0, input: undefined, output: undefined, provider: undefined },
    })
  }

  /** Records the figures of an operation that ends. */
  end(operation: Operation, end: OperationEnd): Measured {
    const started = this.#started.get(operation)
    const seconds = started ? Math.max(0, (performance.now() - started.at) / 1000) : 0
    const hasFailed = end.outcome === 'failed' || end.outcome === 'unknown'
    const errorType = hasFailed ? errorTypeOf(end.errorCode) : undefined
    const measured = { seconds, errorType }
    switch (operation.type) {
      case 'model':
        return { errorType, tokens: this.#endModel(operation, end, measured), sums: undefined }
      case 'tool':
      case 'call':
        this.#endCall(operation, end, measured)
        return { errorType, tokens: undefined, sums: undefined }
      case 'request':
        this.#endRequest(operation, end, seconds)
        return { errorType, tokens: undefined, sums: undefined }
      default:
        if (started) this.#endAgent(operation, started.sums, measured)
        return { errorType, tokens: undefined, sums: started?.sums }
    }
  }

  /** Records a figure of a store or a worker. */
  measure(measurement: Measurement): void {
    if (measurement.type === 'takeover') this.#sink.record('takeovers', 1, NO_LABELS)
    else this.#sink.record(SECONDS_OF[measurement.type], measurement.seconds, NO_LABELS)
  }

  #endModel(operation: ModelOperation, { response }: OperationEnd, { seconds, errorType }: Ending): Tokens {
    const tokens = tokensOf(response?.usageMetadata)
    const provider = operation.provider ?? UNKNOWN_PROVIDER
    this.#eachAbove(operation, (sums) => {
      sums.modelCalls++
      sums.provider ??= provider
      if (tokens.input !== undefined) sums.input = (sums.input ?? 0) + tokens.input
      if (tokens.output !== undefined) sums.output = (sums.output ?? 0) + tokens.output
    })
    const about: Labels = {
      [LABEL.operation]: modelOperationOf(operation),
      [LABEL.provider]: provider,
      [LABEL.requestModel]: this.#limited('model', operation.model),
    }
    this.#sink.record('modelDuration', seconds, withError(about, errorType))
    for (const type of ['input', 'output'] as const) {
      const count = tokens[type]
      if (count !== undefined) this.#sink.record('tokens', count, { ...about, [LABEL.tokenType]: type })
    }
    return tokens
  }

  #endCall(operation: ToolOperation | CallOperation, { outcome }: OperationEnd, { seconds, errorType }: Ending): void {
    const isFirst = operation.type === 'tool' ? operation.attempt === 1 : outcome !== 'paused'
    if (isFirst) this.#eachAbove(operation, (sums) => void sums.toolCalls++)
    if (operation.type === 'call' && errorType === undefined) return // no body ran, and nothing failed
    const about = {
      [LABEL.operation]: 'execute_tool',
      [LABEL.tool]: this.#limited('tool', toolNameOf(operation)),
    }
    this.#sink.record('toolDuration', seconds, withError(about, errorType))
  }

  #endAgent({ agent }: RunOperation | AgentOperation, sums: MutableSums, { seconds, errorType }: Ending): void {
    const about = { [LABEL.operation]: 'invoke_agent', [LABEL.agent]: this.#limited('agent', agent) }
    const labels = withError(about, errorType)
    this.#sink.record('agentDuration', seconds, labels)
    this.#sink.record('inferenceCalls', sums.modelCalls, labels)
    this.#sink.record('toolCalls', sums.toolCalls, labels)
  }

  #endRequest({ kind, tool }: RequestOperation, { outcome }: OperationEnd, seconds: number): void {
    if (kind !== 'confirmation') return
    const labels = { [LABEL.tool]: this.#limited('tool', tool), [LABEL.outcome]: outcome }
    this.#sink.record('approvalWait', seconds, labels)
  }

  /** Adds to the sums of all agents around an operation. */
  #eachAbove(operation: Operation, add: (sums: MutableSums) => void): void {
    for (let at = operation.parent; at; at = at.parent) {
      const started = at.type === 'run' || at.type === 'agent' ? this.#started.get(at) : undefined
      if (started) add(started.sums)
    }
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

/** An operation under way. */
interface Started {
  /** When it began, in milliseconds on the clock of durations. */
  readonly at: number
  readonly sums: MutableSums
}

interface MutableSums {
  modelCalls: number
  toolCalls: number
  input: number | undefined
  output: number | undefined
  provider: string | undefined
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
