// All names that are exported: the GenAI conventions 1.41.0 of OpenTelemetry, the metrics of agents and tools that came after it, and
// ours, which begin with `toolwright.`.

/** Says which version of the conventions the names belong to. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

/** The name of the instrumentation. */
export const SCOPE = 'toolwright'

/** Attributes of spans and metrics. */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  session: 'session.id',
  user: 'user.id',
  agent: 'gen_ai.agent.name',
  agentDescription: 'gen_ai.agent.description',
  requestModel: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  temperature: 'gen_ai.request.temperature',
  maxTokens: 'gen_ai.request.max_tokens',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  outputType: 'gen_ai.output.type',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  tool: 'gen_ai.tool.name',
  toolDescription: 'gen_ai.tool.description',
  toolType: 'gen_ai.tool.type',
  callId: 'gen_ai.tool.call.id',
  error: 'error.type',
  invocation: 'toolwright.invocation.id',
  outcome: 'toolwright.outcome',
  attempt: 'toolwright.tool.attempt',
} as const

/** Attributes that hold content. Exported only when asked to. */
export const CONTENT = {
  instructions: 'gen_ai.system_instructions',
  input: 'gen_ai.input.messages',
  output: 'gen_ai.output.messages',
  tools: 'gen_ai.tool.definitions',
  arguments: 'gen_ai.tool.call.arguments',
  result: 'gen_ai.tool.call.result',
} as const

/** An attribute that holds content. */
export type ContentAttribute = (typeof CONTENT)[keyof typeof CONTENT]

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const AGENT_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
const WAITED_SECONDS = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400]
const STORE_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128]
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

/** A histogram. */
export interface HistogramFacts {
  /** The name of the metric. */
  readonly name: string
  /** The unit. */
  readonly unit: string
  /** What it measures. */
  readonly description: string
  /** The upper bounds of the buckets. */
  readonly buckets: readonly number[]
}

/** What is measured. */
export type HistogramName =
  | 'modelDuration'
  | 'tokens'
  | 'toolDuration'
  | 'agentDuration'
  | 'inferenceCalls'
  | 'toolCalls'
  | 'approvalWait'
  | 'appendDuration'
  | 'recoveryDuration'

/** The histograms. */
export const HISTOGRAMS: { readonly [name in HistogramName]: HistogramFacts } = {
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
  recoveryDuration: {
    name: 'toolwright.recovery.duration',
    unit: 's',
    description: 'How long interrupted invocations wait until a process continues them.',
    buckets: WAITED_SECONDS,
  },
}

/** The counter of sessions that were taken over. */
export const TAKEOVERS = {
  name: 'toolwright.lease.takeovers',
  unit: '{takeover}',
  description: 'Sessions claimed after their holder had lost them.',
} as const

/** Stands for a name that is unknown, or one too many. */
export const OTHER = '_OTHER'
