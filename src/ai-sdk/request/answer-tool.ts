// A structured answer from a provider that sends no response schema: a tool takes the answer, and its arguments become
// the text of the reply.
import { isRecord, type JsonObject } from '../../base/json.ts'
import type { Part } from '../../content/content.ts'
import { withObjectRoot } from './object-root.ts'
import type { CallOptions } from '../ai-sdk-types.ts'

export const ANSWER_TOOL = 'set_model_response'

const isObject = (schema: JsonObject): boolean => schema.type === 'object'

/** Offers the tool. It must be called, unless the model may need other tools first. */
export function offerAnswerTool(options: CallOptions, schema: JsonObject): void {
  const inputSchema = isObject(schema)
    ? withObjectRoot(schema)
    : { type: 'object', properties: { result: schema }, required: ['result'] }
  const description = 'Give your final answer. Call this once, when you need no other tool any more.'
  const tool = { type: 'function', name: ANSWER_TOOL, description, inputSchema }
  if (!options.tools) options.toolChoice = { type: 'tool', toolName: ANSWER_TOOL }
  options.tools = [...(options.tools ?? []), tool]
}

/** The reply with the arguments of the tool as its text. An answer beside other calls comes too early and is dropped. */
export function answerAsText(parts: readonly Part[], schema: JsonObject): Part[] {
  const isAnswer = ({ functionCall }: Part): boolean => functionCall?.name === ANSWER_TOOL
  const answer = parts.find(isAnswer)?.functionCall
  if (!answer) return [...parts]
  const rest = parts.filter((part) => !isAnswer(part))
  if (rest.some(({ functionCall }) => functionCall)) return rest
  const args: unknown = answer.args
  const value = !isObject(schema) && isRecord(args) && 'result' in args ? args.result : args
  const text = typeof args === 'string' ? args : JSON.stringify(value)
  // what the model said before its answer is no part of the answer
  return [...rest.map((part) => (part.text === undefined ? part : { ...part, thought: true })), { text }]
}
