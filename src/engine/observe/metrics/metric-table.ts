// The metrics of runs: one table for all renderings. The names are those of the GenAI conventions 1.41.0 of OpenTelemetry, the metrics of
// agents and tools that came after it, and ours, which begin with `toolwright.`.

/** The labels of metrics. Their values are names of the developer and codes of the framework. */
export const LABEL = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  tokenType: 'gen_ai.token.type',
  agent: 'gen_ai.agent.name',
  tool: 'gen_ai.tool.name',
  error: 'error.type',
  outcome: 'toolwright.outcome',
} as const

/** The labels of one value. */
export type Labels = { readonly [label in (typeof LABEL)[keyof typeof LABEL]]?: string }

/** Stands for a name that is unknown, or one too many. */
export const OTHER = '_OTHER'

/** The provider of a model that does not say who provides it. */
export const UNKNOWN_PROVIDER = 'unknown'

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const AGENT_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
const WAITED_SECONDS = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400]
const INBOX_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400]
const STORE_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128]
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

/** A metric. */
export interface MetricFacts {
  /** The name. */
  readonly name: string
  /** The unit. */
  readonly unit: string
  /** What it measures. */
  readonly description: string
  /** The upper bounds of the buckets of a histogram. Undefined: it is a counter. */
  readonly buckets?: readonly number[]
}

/** What is measured. */
export type MetricName =
  | 'modelDuration'
  | 'tokens'
  | 'toolDuration'
  | 'agentDuration'
  | 'inferenceCalls'
  | 'toolCalls'
  | 'approvalWait'
  | 'appendDuration'
  | 'inboxAge'
  | 'recoveryDuration'
  | 'takeovers'

/** The metrics. */
export const METRICS: { readonly [name in MetricName]: MetricFacts } = {
  modelDuration: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'How long model calls take.',
    buckets: SECONDS,
  },
  tokens: {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Tokens that model calls read and write.',
    buckets: TOKENS,
  },
  toolDuration: {
    name: 'gen_ai.execute_tool.duration',
    unit: 's',
    description: 'How long attempts of tools take.',
    buckets: SECONDS,
  },
  agentDuration: {
    name: 'gen_ai.invoke_agent.duration',
    unit: 's',
    description: 'How long agents work.',
    buckets: AGENT_SECONDS,
  },
  inferenceCalls: {
    name: 'gen_ai.invoke_agent.inference_calls',
    unit: '{call}',
    description: 'Model calls of an agent, with those of agents below it.',
    buckets: COUNTS,
  },
  toolCalls: {
    name: 'gen_ai.invoke_agent.tool_calls',
    unit: '{call}',
    description: 'Tool calls of an agent, with those of agents below it.',
    buckets: COUNTS,
  },
  approvalWait: {
    name: 'toolwright.approval.wait',
    unit: 's',
    description: 'How long confirmations wait for their answer.',
    buckets: WAITED_SECONDS,
  },
  appendDuration: {
    name: 'toolwright.store.append.duration',
    unit: 's',
    description: 'How long the store takes to append to a log.',
    buckets: STORE_SECONDS,
  },
  inboxAge: {
    name: 'toolwright.inbox.age',
    unit: 's',
    description: 'How long the oldest of the inbox items that a process takes have waited.',
    buckets: INBOX_SECONDS,
  },
  recoveryDuration: {
    name: 'toolwright.recovery.duration',
    unit: 's',
    description: 'How long interrupted invocations wait until a process continues them.',
    buckets: WAITED_SECONDS,
  },
  takeovers: {
    name: 'toolwright.lease.takeovers',
    unit: '{takeover}',
    description: 'Sessions claimed after their holder had lost them.',
  },
}
