// Gemini's rules on the order of turns.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'

interface Target {
  readonly isVertex: boolean
  readonly rules: { readonly needsSignatures: boolean }
}

/** The first problem of the turns of a request, with Gemini's message. */
export function turnsProblem(contents: readonly JsonObject[], target: Target): string | undefined {
  if (contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified'
  const turns = contents.map(({ parts }) => (Array.isArray(parts) ? parts.filter(isRecord) : []))
  for (const [at, { role }] of contents.entries()) {
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
    const problem = partsProblem(turns[at] ?? [], `contents[${at}]`, target)
    if (problem) return problem
  }
  if (contents[0]?.role === 'model') return 'Please ensure that multiturn requests begin with a user turn.'
  if (contents.at(-1)?.role === 'model') return 'Please ensure that requests end with a user turn.'
  return callsProblem(contents, turns) ?? (target.rules.needsSignatures ? signatureProblem(contents, turns) : undefined)
}

const KINDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const
const KNOWN_FIELDS = new Set<string>([...KINDS, 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution'])

function partsProblem(parts: readonly JsonObject[], where: string, { isVertex }: Target): string | undefined {
  if (parts.length === 0) return `* GenerateContentRequest.${where}.parts: contents.parts must not be empty.`
  for (const [at, part] of parts.entries()) {
    const here = `${where}.parts[${at}]`
    const kinds = KINDS.filter((kind) => part[kind] !== undefined)
    const unknown = Object.keys(part).find((field) => !KNOWN_FIELDS.has(field) || (isVertex && /^tool[CR]/.test(field)))
    if (unknown) return `Unknown name "${unknown}" at '${here}': Cannot find field.`
    if (kinds.length !== 1) return `${here}.data: required oneof field 'data' must have one initialized field`
    if (part.text === '' && part.thoughtSignature === undefined) return `${here}: the text is empty.`
    const problem = isRecord(part.functionResponse)
      ? responseProblem(part.functionResponse, here, isVertex)
      : mediaProblem(part, here)
    if (problem) return problem
  }
  return undefined
}

function mediaProblem({ inlineData, fileData }: JsonObject, here: string): string | undefined {
  if (isRecord(fileData) && !fileData.fileUri) return `${here}.file_data: file_uri is required.`
  if (!isRecord(inlineData)) return undefined
  if (!inlineData.mimeType) return `${here}.inline_data: mime_type is required.`
  const isBase64 = typeof inlineData.data === 'string' && /^[\w+/-]+={0,2}$/.test(inlineData.data)
  return isBase64 ? undefined : `Invalid value at '${here}.inline_data.data' (TYPE_BYTES), Base64 decoding failed.`
}

function responseProblem(given: JsonObject, here: string, isVertex: boolean): string | undefined {
  if (isVertex && given.willContinue !== undefined)
    return `Unknown name "willContinue" at '${here}': Cannot find field.`
  if (!isRecord(given.response)) return `${here}.function_response.response: must be an object.`
  const media = Array.isArray(given.parts) ? given.parts.filter(isRecord) : []
  if (media.some((part) => !part.inlineData && !part.fileData))
    return `${here}.function_response.parts: only media parts are allowed.`
  const names = media.map(({ inlineData }) => (isRecord(inlineData) ? inlineData.displayName : undefined))
  const lost = findReferences(given.response).find((name) => !names.includes(name))
  if (lost === undefined) return undefined
  return `The referenced name \`${lost}\` in function_response.response does not match to a display_name in the function_response.parts.`
}

function findReferences(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(findReferences)]
}

type Turns = readonly (readonly JsonObject[])[]

const callsIn = (turn: readonly JsonObject[] = []): JsonObject[] => turn.filter((part) => part.functionCall)
const responsesIn = (turn: readonly JsonObject[] = []): JsonObject[] => turn.filter((part) => part.functionResponse)

function callsProblem(contents: readonly JsonObject[], turns: Turns): string | undefined {
  for (const [at, turn] of turns.entries()) {
    const calls = callsIn(turn).length
    if (calls && contents[at - 1]?.role !== 'user') {
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    }
    if (calls && responsesIn(turns[at + 1]).length !== calls) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    }
    if (responsesIn(turn).length && !callsIn(turns[at - 1]).length) {
      return 'Please ensure that function response turn comes immediately after a function call turn.'
    }
  }
  return undefined
}

/** Checks the signatures of the calls after the last user message. */
function signatureProblem(contents: readonly JsonObject[], turns: Turns): string | undefined {
  const lastUserTurn = contents.findLastIndex(({ role }, at) => role === 'user' && !responsesIn(turns[at]).length)
  for (const turn of turns.slice(lastUserTurn + 1)) {
    const [first] = callsIn(turn)
    if (first && first.thoughtSignature === undefined) {
      return 'Function call is missing a thought_signature in functionCall parts.'
    }
  }
  return undefined
}
