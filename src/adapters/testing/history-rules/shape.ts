// The shape that every provider requires: a list of contents with a role and parts.
import { isRecord } from '../../../core/base/json.ts'
import type { Content } from '../../../core/content/content.ts'

const ROLES = new Set<unknown>(['user', 'model', 'tool'])

/** The fields of which a part has exactly one. */
const KINDS = [
  'text',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
] as const

/** Problems that every provider rejects. */
export function shapeProblems(contents: readonly Content[]): string[] {
  const given: unknown = contents
  if (!Array.isArray(given)) return ['the contents are not a list']
  if (given.length === 0) return ['the contents are empty']
  return given.flatMap(contentProblems)
}

function contentProblems(content: unknown, at: number): string[] {
  const where = `contents[${at}]`
  if (!isRecord(content)) return [`${where} is not a content`]
  const { role, parts } = content
  if (!ROLES.has(role)) return [`${where} has the role ${JSON.stringify(role)}: use user, model or tool`]
  if (!Array.isArray(parts) || parts.length === 0) return [`${where} has no parts`]
  return parts.flatMap((part: unknown, n) => partProblems(part, role, `${where}.parts[${n}]`))
}

function partProblems(part: unknown, role: unknown, where: string): string[] {
  if (!isRecord(part)) return [`${where} is not a part`]
  const kinds = KINDS.filter((kind) => part[kind] !== undefined)
  // a part can have only a signature, and providers have kinds of their own
  if (kinds.length === 0 && part.thoughtSignature === undefined && Object.keys(part).length === 0)
    return [`${where} is empty`]
  if (kinds.length > 1) return [`${where} has ${kinds.join(' and ')}; a part has only one of them`]
  const { functionCall: call, functionResponse: response } = part
  if (call !== undefined) {
    if (!isRecord(call) || typeof call.name !== 'string') return [`${where}: a call needs a name`]
    if (!isId(call.id)) return [`${where}: the id of a call must be a string`]
    if (role !== 'model') return [`${where}: only the role model can have calls, not ${role}`]
    if (!isRecord(call.args)) return [`${where}: the arguments of ${call.name} are not an object`]
  }
  if (response !== undefined) {
    if (!isRecord(response) || typeof response.name !== 'string') return [`${where}: a response needs a name`]
    if (!isId(response.id)) return [`${where}: the id of a response must be a string`]
    if (role === 'model') return [`${where}: the role model cannot have responses`]
    if (!isRecord(response.response)) return [`${where}: the response of ${response.name} is not an object`]
  }
  return []
}

const isId = (id: unknown): boolean => id === undefined || typeof id === 'string'
