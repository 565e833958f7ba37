// All names that spans have: the GenAI conventions 1.41.0 of OpenTelemetry, and ours, which begin with `toolwright.`. Those of metrics are
// in the table of metrics, with their labels.

/** Says which version of the conventions the names belong to. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.0'

/** The name of the instrumentation. */
export const SCOPE = 'toolwright'

/** Attributes of spans, besides the labels that they share with metrics. */
export const ATTRIBUTE = {
  conversation: 'gen_ai.conversation.id',
  session: 'session.id',
  user: 'user.id',
  agentDescription: 'gen_ai.agent.description',
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
  toolDescription: 'gen_ai.tool.description',
  toolType: 'gen_ai.tool.type',
  callId: 'gen_ai.tool.call.id',
  invocation: 'toolwright.invocation.id',
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
