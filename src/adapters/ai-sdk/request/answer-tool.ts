// Structured output for providers that send no response schema: the model calls a tool with its answer, and the
// arguments of that call become the text of the reply.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { CallOptions } from '../ai-sdk-types.ts'
import { withObjectRoot } from './object-root.ts'

/** Name of the answer tool. */
export const ANSWER_TOOL = 'set_model_response'

const isObject = (schema: JsonObject): boolean => schema.type === 'object'

/** Adds the answer tool. The model must call it, unless the request has other tools. */
export function offerAnswerTool(options: CallOptions, schema: JsonObject): void {
  const inputSchema = isObject(schema)
    ? withObjectRoot(schema)
    : { type: 'object', properties: { result: schema }, required: ['result'] }
  const description = 'Return your final answer. Call this tool once, when you need no other tool.'
  const tool = { type: 'function', name: ANSWER_TOOL, description, inputSchema }
  if (!options.tools) options.toolChoice = { type: 'tool', toolName: ANSWER_TOOL }
  options.tools = [...(options.tools ?? []), tool]
}

/** Replaces the call of the answer tool by a text. An answer next to other tool calls is premature and dropped. */
export function answerAsText(parts: readonly Part[], schema: JsonObject): Part[] {
  const isAnswer = ({ functionCall }: Part): boolean => functionCall?.name === ANSWER_TOOL
  const answer = parts.find(isAnswer)?.functionCall
  if (!answer) return [...parts]
  const rest = parts.filter((part) => !isAnswer(part))
  if (rest.some(({ functionCall }) => functionCall)) return rest
  const args: unknown = answer.args
  const value = !isObject(schema) && isRecord(args) && 'result' in args ? args.result : args
  const text = typeof args === 'string' ? args : JSON.stringify(value)
  // texts before the answer are not part of the answer
  return [...rest.map((part) => (part.text === undefined ? part : { ...part, thought: true })), { text }]
}
