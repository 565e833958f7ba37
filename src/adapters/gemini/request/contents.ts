// Converts a conversation to what Gemini accepts: two roles, user turns first and last, each result right after its call.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { codeAsText } from '../../../core/content/code-text.ts'
import type { Content, FunctionCall, Part } from '../../../core/content/content.ts'
import { geminiId, toResponseTurns } from './function-responses.ts'

/** The model a conversation is written for. */
interface ContentTarget {
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
interface GeminiContent {
  /** Gemini has no other roles: results are user turns. */
  readonly role: 'user' | 'model'
  /** The parts in Gemini's format. */
  readonly parts: readonly JsonObject[]
}

/** Converts a conversation to Gemini's format. */
export function toGeminiContents(contents: readonly Content[], target: ContentTarget): GeminiContent[] {
  const all: GeminiContent[] = []
  for (const content of contents) {
    const hasResponses = content.parts.some((part) => part.functionResponse)
    const turns = hasResponses
      ? toResponseTurns(content.parts, target, (parts) => toGeminiParts(parts, target, 'user'))
      : [toGeminiContent(content, target)]
    for (const turn of turns) if (turn.parts.length) appendContent(all, turn)
  }
  if (target.isGemini3) for (const [at, content] of all.entries()) all[at] = withPlaceholderSignature(content)
  if (target.isLive) return all
  if (all[0]?.role !== 'user') all.unshift(userText('(The conversation begins here.)'))
  if (all.at(-1)?.role === 'model') all.push(userText('Continue.'))
  return all
}

function toGeminiContent({ role: given, parts }: Content, target: ContentTarget): GeminiContent {
  const role = given === 'model' ? 'model' : 'user'
  return { role, parts: toGeminiParts(parts, target, role) }
}

const userText = (text: string): GeminiContent => ({ role: 'user', parts: [{ text }] })

/** Merges consecutive model turns: Gemini accepts a call only after a user turn. */
function appendContent(all: GeminiContent[], content: GeminiContent): void {
  const last = all.at(-1)
  if (content.role !== 'model' || last?.role !== 'model') all.push(content)
  else all[all.length - 1] = { role: 'model', parts: [...last.parts, ...content.parts] }
}

function toGeminiParts(parts: readonly Part[], target: ContentTarget, role: GeminiContent['role']): JsonObject[] {
  return parts.map((part) => toGeminiPart(part, target, role)).filter((part) => part !== undefined)
}

/** Converts a part. Undefined when Gemini has no use for it. */
function toGeminiPart(part: Part, target: ContentTarget, role: GeminiContent['role']): JsonObject | undefined {
  const {
    partMetadata: _,
    functionCall,
    executableCode,
    codeExecutionResult,
    ...others
  } = dropForeignSignature(role, part)
  if (functionCall) return { ...others, functionCall: toGeminiCall(functionCall) }
  const isGeminiCode = role === 'model' && target.runsCode && !isRunByFramework(part)
  const code = isGeminiCode ? undefined : codeAsText(part)
  if (code !== undefined) return { ...others, text: code }
  const sent: JsonObject = {
    ...others,
    ...(executableCode && { executableCode }),
    ...(codeExecutionResult && { codeExecutionResult }),
  }
  if ((role === 'user' || target.isVertex) && (sent.toolCall || sent.toolResponse)) return undefined
  if (hasData(sent)) return sent
  return sent.thoughtSignature === undefined ? undefined : { ...sent, text: '' }
}

/** Removes the signature from a part in a user turn. It is a message of another agent, signed for another conversation. */
function dropForeignSignature(role: GeminiContent['role'], part: Part): Part {
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

function toGeminiCall({ id, name, args }: FunctionCall): JsonObject {
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
function withPlaceholderSignature(content: GeminiContent): GeminiContent {
  const at = content.parts.findIndex((part) => part.functionCall)
  const call = content.parts[at]
  if (content.role !== 'model' || !call || call.thoughtSignature !== undefined) return content
  return { role: 'model', parts: content.parts.with(at, { ...call, thoughtSignature: PLACEHOLDER_SIGNATURE }) }
}
