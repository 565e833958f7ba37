// Converts a conversation to what Gemini accepts: two roles, user turns first and last, each result right after its call.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { codeAsText } from '../../content/code-text.ts'
import type { Content, FunctionCall, Part } from '../../content/content.ts'
import { geminiId, toResponseTurns } from './function-responses.ts'

/** The model a conversation is written for. */
interface WireTarget {
  /** Whether the request goes to Vertex AI. */
  readonly isVertex: boolean
  /** Whether the model is Gemini 3 or newer. */
  readonly isGemini3: boolean
  /** Whether Gemini runs the code it writes. Otherwise code is sent as text. */
  readonly runsCode: boolean
  /** Whether the turns are added to a live conversation, which may begin and end with any turn. Default false. */
  readonly isLive?: boolean
}

/** One turn in Gemini's format. */
interface WireContent {
  /** Gemini has no other roles: results are user turns. */
  readonly role: 'user' | 'model'
  /** The parts in Gemini's format. */
  readonly parts: readonly JsonObject[]
}

/** Converts a conversation to Gemini's format. */
export function toWireContents(contents: readonly Content[], target: WireTarget): WireContent[] {
  const wire: WireContent[] = []
  for (const content of contents) {
    const hasResponses = content.parts.some((part) => part.functionResponse)
    const turns = hasResponses
      ? toResponseTurns(content.parts, target, (parts) => toWireParts(parts, target, 'user'))
      : [toWireContent(content, target)]
    for (const turn of turns) if (turn.parts.length) appendContent(wire, turn)
  }
  if (target.isGemini3) for (const [at, content] of wire.entries()) wire[at] = withPlaceholderSignature(content)
  if (target.isLive) return wire
  if (wire[0]?.role !== 'user') wire.unshift(userText('(The conversation begins here.)'))
  if (wire.at(-1)?.role === 'model') wire.push(userText('Continue.'))
  return wire
}

function toWireContent({ role: given, parts }: Content, target: WireTarget): WireContent {
  const role = given === 'model' ? 'model' : 'user'
  return { role, parts: toWireParts(parts, target, role) }
}

const userText = (text: string): WireContent => ({ role: 'user', parts: [{ text }] })

/** Merges consecutive model turns: Gemini accepts a call only after a user turn. */
function appendContent(wire: WireContent[], content: WireContent): void {
  const last = wire.at(-1)
  if (content.role !== 'model' || last?.role !== 'model') wire.push(content)
  else wire[wire.length - 1] = { role: 'model', parts: [...last.parts, ...content.parts] }
}

function toWireParts(parts: readonly Part[], target: WireTarget, role: WireContent['role']): JsonObject[] {
  return parts.map((part) => toWirePart(part, target, role)).filter((part) => part !== undefined)
}

/** Converts a part. Undefined when Gemini has no use for it. */
function toWirePart(part: Part, target: WireTarget, role: WireContent['role']): JsonObject | undefined {
  const {
    partMetadata: _,
    functionCall,
    executableCode,
    codeExecutionResult,
    ...others
  } = dropForeignSignature(role, part)
  if (functionCall) return { ...others, functionCall: toWireCall(functionCall) }
  const isGeminiCode = role === 'model' && target.runsCode && !isRunByFramework(part)
  const code = isGeminiCode ? undefined : codeAsText(part)
  if (code !== undefined) return { ...others, text: code }
  const wire: JsonObject = {
    ...others,
    ...(executableCode && { executableCode }),
    ...(codeExecutionResult && { codeExecutionResult }),
  }
  if ((role === 'user' || target.isVertex) && (wire.toolCall || wire.toolResponse)) return undefined
  if (hasData(wire)) return wire
  return wire.thoughtSignature === undefined ? undefined : { ...wire, text: '' }
}

/** Removes the signature from a part in a user turn. It is a message of another agent, signed for another conversation. */
function dropForeignSignature(role: WireContent['role'], part: Part): Part {
  if (role === 'model' || part.thoughtSignature === undefined) return part
  const { thoughtSignature: _, ...unsigned } = part
  return unsigned
}

/** Fields of a part that are its data. Gemini rejects a request with a part that has none of them. */
const DATA_FIELDS = ['text', 'functionResponse', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse']

/** Has the part data that Gemini accepts? Old logs and imported events may hold parts that it rejects. */
function hasData(part: JsonObject): boolean {
  const { text, inlineData, fileData } = part
  if (isRecord(inlineData)) return isFilled(inlineData.data) && isFilled(inlineData.mimeType)
  if (isRecord(fileData)) return isFilled(fileData.fileUri)
  return text !== '' && DATA_FIELDS.some((field) => part[field] !== undefined && part[field] !== null)
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function toWireCall({ id, name, args }: FunctionCall): JsonObject {
  return { ...geminiId(id), name, args: isRecord(args) ? args : {} } // another model may have written invalid arguments
}

/** Whether the agent's code executor ran the code. Then the framework created its id. */
function isRunByFramework({ executableCode, codeExecutionResult }: Part): boolean {
  const id = (executableCode ?? codeExecutionResult)?.id
  return id !== undefined && geminiId(id).id === undefined
}

/** What Gemini 3 accepts instead of a signature, for a call that another model made. */
const PLACEHOLDER_SIGNATURE = 'skip_thought_signature_validator'

/** Adds the placeholder to the first call of a turn if it has no signature. Only the first call of a batch is signed. */
function withPlaceholderSignature(content: WireContent): WireContent {
  const at = content.parts.findIndex((part) => part.functionCall)
  const call = content.parts[at]
  if (content.role !== 'model' || !call || call.thoughtSignature !== undefined) return content
  return { role: 'model', parts: content.parts.with(at, { ...call, thoughtSignature: PLACEHOLDER_SIGNATURE }) }
}
