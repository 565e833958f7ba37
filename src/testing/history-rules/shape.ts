// What a history must be before any provider's rules can be asked: a list of contents with a role and parts.
import { isRecord } from '../../base/json.ts'
import type { Content } from '../../content/content.ts'

const ROLES = new Set<unknown>(['user', 'model', 'tool'])

/** A part says one of these. */
const KINDS = [
  'text',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
] as const

/** What everybody refuses, in whatever words. */
export function shapeProblems(contents: readonly Content[]): string[] {
  const given: unknown = contents
  if (!Array.isArray(given)) return ['the contents are no list']
  if (given.length === 0) return ['there is nothing in it']
  return given.flatMap(contentProblems)
}

function contentProblems(content: unknown, at: number): string[] {
  const where = `contents[${at}]`
  if (!isRecord(content)) return [`${where} is no content`]
  const { role, parts } = content
  if (!ROLES.has(role)) return [`${where} has the role ${JSON.stringify(role)}: use user, model or tool`]
  if (!Array.isArray(parts) || parts.length === 0) return [`${where} has no parts`]
  return parts.flatMap((part: unknown, n) => partProblems(part, role, `${where}.parts[${n}]`))
}

function partProblems(part: unknown, role: unknown, where: string): string[] {
  if (!isRecord(part)) return [`${where} is no part`]
  const kinds = KINDS.filter((kind) => part[kind] !== undefined)
  // a signature may hang on a part that says nothing, and providers have kinds of their own
  if (kinds.length === 0 && part.thoughtSignature === undefined && Object.keys(part).length === 0)
    return [`${where} is empty`]
  if (kinds.length > 1) return [`${where} is ${kinds.join(' and ')} at once`]
  const { functionCall: call, functionResponse: response } = part
  if (call !== undefined) {
    if (!isRecord(call) || typeof call.name !== 'string') return [`${where}: a call needs a name`]
    if (!isId(call.id)) return [`${where}: the id of a call is a text`]
    if (role !== 'model') return [`${where}: only the model calls, not the ${role}`]
    if (!isRecord(call.args)) return [`${where}: the arguments of ${call.name} are no object`]
  }
  if (response !== undefined) {
    if (!isRecord(response) || typeof response.name !== 'string') return [`${where}: a response needs a name`]
    if (!isId(response.id)) return [`${where}: the id of a response is a text`]
    if (role === 'model') return [`${where}: the model answers no calls`]
    if (!isRecord(response.response)) return [`${where}: the response of ${response.name} is no object`]
  }
  return []
}

const isId = (id: unknown): boolean => id === undefined || typeof id === 'string'
