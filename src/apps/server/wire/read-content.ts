import { isRecord, type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { Content, Part, Role } from '../../../core/content/content.ts'
import { isBase64, partProblem } from '../../../core/content/part-problem.ts'
import { Fields, invalid, toSnakeCase } from './fields.ts'

/** Members of wire objects, in camelCase. Clients may send them in snake_case. Other members are data and stay as they are. */
interface Members {
  /** Members whose names have several words, by their snake_case form. */
  readonly camelCase: ReadonlyMap<string, string>
  /** Members that are such objects themselves. */
  readonly nested?: { readonly [name: string]: (value: JsonObject, where: string) => object }
}

const BLOB: Members = { camelCase: bySnakeCase('mimeType', 'displayName') }
const FILE: Members = { camelCase: bySnakeCase('fileUri', 'mimeType', 'displayName') }
const RESPONSE: Members = { camelCase: bySnakeCase('willContinue') }
const PART: Members = {
  camelCase: bySnakeCase(
    'functionCall',
    'functionResponse',
    'inlineData',
    'fileData',
    'executableCode',
    'codeExecutionResult',
    'thoughtSignature',
    'videoMetadata',
    'partMetadata',
  ),
  nested: { inlineData: readBlob, fileData: (value) => rename(value, FILE), functionResponse: readResponse },
}

/** Reads a content. The runner checks the parts of a message. */
export function readContent(value: unknown, where: string): Content {
  const fields = new Fields(value, where)
  const parts = fields.optionalList('parts')
  if (!parts) throw invalid(`${fields.path('parts')} must be a list of parts, got nothing.`)
  const role = fields.optionalText('role') ?? 'user'
  if (!isRole(role)) throw invalid(`${fields.path('role')} must be user, model or tool.`)
  return { role, parts: parts.map((part, at) => readPart(part, `${where}.parts.${at}`)) }
}

/** Reads the content of an imported event. Its parts may have members that this version does not know. */
export function readImportedContent(value: unknown, where: string): Content {
  const content = readContent(value, where)
  for (const [at, part] of content.parts.entries()) {
    const problem = partProblem(part, { unknownMembers: 'accept' })
    if (problem !== undefined) throw invalid(`${where}.parts.${at}${problem}`)
    if (part.inlineData && !isBase64(part.inlineData.data))
      throw invalid(`${where}.parts.${at}.inlineData.data must be base64.`)
    if (part.functionCall && content.role !== 'model')
      throw invalid(`${where}.parts.${at} is a functionCall, so that ${where}.role must be "model".`)
  }
  return content
}

/** Reads a part, in camelCase or snake_case. Members that are null count as absent. */
export function readPart(value: unknown, where: string): Part {
  if (!isRecord(value)) throw invalid(`${where} must be an object with a text or data.`)
  return rename(value, PART, where)
}

function isRole(role: string): role is Role {
  return role === 'user' || role === 'model' || role === 'tool'
}

/** Clients may send URL-safe base64. */
function readBlob(value: JsonObject): object {
  const blob = rename(value, BLOB)
  const { data } = blob
  return typeof data === 'string' ? { ...blob, data: data.replaceAll('-', '+').replaceAll('_', '/') } : blob
}

function readResponse(value: JsonObject, where: string): object {
  const response = rename(value, RESPONSE)
  const { parts } = response
  if (!Array.isArray(parts)) return response
  return { ...response, parts: parts.map((part, at) => readPart(part, `${where}.parts.${at}`)) }
}

function bySnakeCase(...names: string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [toSnakeCase(name), name]))
}

function rename(value: JsonObject, { camelCase, nested = {} }: Members, where = ''): JsonObject {
  const read: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue
    const name = camelCase.get(key) ?? key
    if (Object.hasOwn(read, name)) throw invalid(`${where || 'A part'} has ${name} twice. Send one of both spellings.`)
    const inner = Object.hasOwn(nested, name) ? nested[name] : undefined
    setOwn(read, name, inner && isRecord(member) ? inner(member, `${where}.${name}`) : member)
  }
  return read
}
