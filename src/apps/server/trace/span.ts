/** A span, as ADK clients read it. Its members are in snake case. Times are nanoseconds since the epoch. */
export interface Span {
  /** What the time was used for, such as `call_llm`. */
  readonly name: string
  /** The id, unique in its session. */
  readonly span_id: string
  /** The invocation. */
  readonly trace_id: string
  /** The span around this one. */
  readonly parent_span_id: string | null
  /** When it started. */
  readonly start_time: number
  /** When it ended. */
  readonly end_time: number
  /** Details, by the names of OpenTelemetry and ADK. */
  readonly attributes: { readonly [name: string]: unknown }
}

/** The names of attributes. */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  model: 'gen_ai.request.model',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  event: 'gcp.vertex.agent.event_id',
  invocation: 'gcp.vertex.agent.invocation_id',
  session: 'gcp.vertex.agent.session_id',
  llmRequest: 'gcp.vertex.agent.llm_request',
  llmResponse: 'gcp.vertex.agent.llm_response',
  toolArgs: 'gcp.vertex.agent.tool_call_args',
  toolResponse: 'gcp.vertex.agent.tool_response',
} as const

/** Seconds as nanoseconds. */
export function toNanoseconds(seconds: number): number {
  return Math.round(seconds * 1e6) * 1000
}
