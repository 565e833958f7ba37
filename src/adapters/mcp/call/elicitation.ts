// Questions of a server to the user (elicitation), as input requests of a tool call.
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { isRecord, type JsonObject, jsonSize } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import type { AnsweredInput, ToolContext } from '../../../engine/context/context.ts'
import { isLoopback } from '../../../services/auth/config/endpoint.ts'
import { MAX_QUESTION_BYTES, MAX_QUESTION_LENGTH, MAX_QUESTIONS } from '../limits.ts'
import { compileForeignSchema } from '../listing/foreign-schema.ts'

/** A question that a human can answer. */
export interface Question {
  /** What the user sees. It names the server. */
  readonly message: string
  /** The JSON Schema of the answer; undefined if any answer will do. */
  readonly schema?: JsonObject
}

/** The question of an elicitation. Undefined if it cannot be asked: it is declined. */
export function toQuestion(server: string, params: unknown): Question | undefined {
  if (!isRecord(params) || typeof params.message !== 'string') return undefined
  const { message, mode, url, requestedSchema } = params
  if (message.length + String(url ?? '').length > MAX_QUESTION_LENGTH) return undefined
  const asks = `The MCP server "${server}" asks: ${message}`
  if (mode === 'url')
    return isSafeLink(url) ? { message: `${asks}\nOpen ${url} and answer when you are done.` } : undefined
  if (!isRecord(requestedSchema) || jsonSize(requestedSchema, MAX_QUESTION_BYTES) > MAX_QUESTION_BYTES) return undefined
  try {
    // a form has only these fields, so that no other answer passes for one
    const schema = { ...requestedSchema, additionalProperties: false }
    compileForeignSchema(schema, 'requestedSchema', { object: true })
    return { message: asks, schema }
  } catch {
    return undefined
  }
}

/** The answer of the user for the server. */
export function toElicitResult(
  { value, declined }: Pick<AnsweredInput, 'value' | 'declined'>,
  params: unknown,
): ElicitResult {
  if (declined) return { action: 'decline' }
  if (isRecord(params) && params.mode === 'url') return { action: 'accept' }
  const schema = isRecord(params) && isRecord(params.requestedSchema) ? params.requestedSchema : undefined
  const parsed = schema && compileSchema(schema, 'requestedSchema').parse(value)
  const content: unknown = parsed && !(parsed instanceof Promise) && !parsed.issues ? parsed.value : value
  if (!isRecord(content)) return { action: 'decline' }
  return { action: 'accept', content: content as NonNullable<ElicitResult['content']> }
}

/** May the user be sent there? Only https, or a server on this machine. */
function isSafeLink(url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '') return false
  return parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed))
}

/** The parameters of an elicitation, without the parts that an answer does not need. */
export function sealable(params: ElicitRequest['params']): JsonObject {
  const { message, mode, requestedSchema } = params as JsonObject
  return { message, ...(mode !== undefined && { mode }), ...(requestedSchema !== undefined && { requestedSchema }) }
}

const URL_ELICITATION_REQUIRED = -32042

/**
 * Asks the user to open the links that the server requires before it runs the call. Returns false if the error names none, or
 * if the user has been asked before.
 */
export function requestLinks(
  error: unknown,
  toQuestion: (params: unknown) => Question | undefined,
  context: ToolContext,
): boolean {
  if (!isRecord(error) || error.code !== URL_ELICITATION_REQUIRED || !isRecord(error.data)) return false
  const { elicitations } = error.data
  const asked = new Set(context.answeredInputs().map(({ key }) => key))
  let hasAsked = false
  for (const params of Array.isArray(elicitations) ? elicitations.slice(0, MAX_QUESTIONS) : []) {
    const question = isRecord(params) ? toQuestion({ ...params, mode: 'url' }) : undefined
    const key = `link-${String(params?.elicitationId ?? params?.url).slice(0, 200)}`
    if (!question || asked.has(key)) continue
    context.requestInput({ key, ...question, mayDecline: true })
    hasAsked = true
  }
  return hasAsked
}
