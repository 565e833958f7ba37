// The names that the conventions define, with their types: facts of semantic-conventions 1.41.0, and the metrics of agents and tools
// that its successor has. What we export beside them begins with `toolwright.`.

import type { AttributeValue } from '@opentelemetry/api'

type Kind = 'string' | 'int' | 'double' | 'boolean' | 'string[]'

/** Attributes of spans and metrics. */
const ATTRIBUTES: Readonly<Record<string, Kind>> = {
  'error.type': 'string',
  'gen_ai.agent.description': 'string',
  'gen_ai.agent.name': 'string',
  'gen_ai.conversation.id': 'string',
  'gen_ai.input.messages': 'string',
  'gen_ai.operation.name': 'string',
  'gen_ai.output.messages': 'string',
  'gen_ai.output.type': 'string',
  'gen_ai.provider.name': 'string',
  'gen_ai.request.max_tokens': 'int',
  'gen_ai.request.model': 'string',
  'gen_ai.request.stream': 'boolean',
  'gen_ai.request.temperature': 'double',
  'gen_ai.request.top_k': 'double',
  'gen_ai.request.top_p': 'double',
  'gen_ai.response.finish_reasons': 'string[]',
  'gen_ai.response.model': 'string',
  'gen_ai.response.time_to_first_chunk': 'double',
  'gen_ai.system_instructions': 'string',
  'gen_ai.token.type': 'string',
  'gen_ai.tool.call.arguments': 'string',
  'gen_ai.tool.call.id': 'string',
  'gen_ai.tool.call.result': 'string',
  'gen_ai.tool.definitions': 'string',
  'gen_ai.tool.description': 'string',
  'gen_ai.tool.name': 'string',
  'gen_ai.tool.type': 'string',
  'gen_ai.usage.cache_read.input_tokens': 'int',
  'gen_ai.usage.input_tokens': 'int',
  'gen_ai.usage.output_tokens': 'int',
  'gen_ai.usage.reasoning.output_tokens': 'int',
  'session.id': 'string',
  'toolwright.invocation.id': 'string',
  'toolwright.outcome': 'string',
  'toolwright.tool.attempt': 'int',
  'user.id': 'string',
}

const VALUES: Readonly<Record<string, RegExp>> = {
  'gen_ai.operation.name': /^(chat|generate_content|invoke_agent|execute_tool)$/,
  'gen_ai.output.type': /^(text|json|image|speech)$/,
  'gen_ai.token.type': /^(input|output)$/,
  'gen_ai.tool.type': /^(function|extension|datastore)$/,
  'toolwright.outcome': /^(completed|failed|denied|paused|cancelled|cached|unknown)$/,
}

/** The metrics, with their units. */
export const METRICS: readonly string[] = [
  'gen_ai.client.operation.duration s',
  'gen_ai.client.token.usage {token}',
  'gen_ai.execute_tool.duration s',
  'gen_ai.invoke_agent.duration s',
  'gen_ai.invoke_agent.inference_calls {call}',
  'gen_ai.invoke_agent.tool_calls {call}',
  'toolwright.approval.wait s',
  'toolwright.inbox.age s',
  'toolwright.lease.takeovers {takeover}',
  'toolwright.recovery.duration s',
  'toolwright.store.append.duration s',
]

/** The attributes that the conventions do not know, or whose values have another type. */
export function unknownAttributes(attributes: Readonly<Record<string, AttributeValue | undefined>>): string[] {
  return Object.entries(attributes).flatMap(([name, value]) => {
    const kind = ATTRIBUTES[name]
    if (kind === undefined) return [`${name} is unknown`]
    if (!isOfKind(value, kind)) return [`${name} is not of type ${kind}`]
    return VALUES[name]?.test(String(value)) === false ? [`${name} has the value ${value}`] : []
  })
}

function isOfKind(value: AttributeValue | undefined, kind: Kind): boolean {
  if (kind === 'int') return Number.isInteger(value)
  if (kind === 'double') return typeof value === 'number'
  if (kind === 'string[]') return Array.isArray(value) && value.every((one) => typeof one === 'string')
  return typeof value === kind
}
