// The conversation as Gemini takes it: two roles, the user first and last, each call's answer right after it.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { codeAsText } from '../../content/code-text.ts'
import type { Content, FunctionCall, Part } from '../../content/content.ts'
import { geminiId, toResponseTurns } from './function-responses.ts'

export interface WireTarget {
  readonly isVertex: boolean
  /** Gemini 3 or newer. */
  readonly isGemini3: boolean
  /** Gemini runs the code it writes: then code is no text to it. */
  readonly runsCode: boolean
}

export interface WireContent {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

export function toWireContents(contents: readonly Content[], target: WireTarget): WireContent[] {
  const wire: WireContent[] = []
  for (const content of contents) {
    const hasResponses = content.parts.some((part) => part.functionResponse)
    const written = hasResponses
      ? toResponseTurns(content.parts, target, (parts) => toWireParts(parts, target, 'user'))
      : [toWireContent(content, target)]
    for (const one of written) if (one.parts.length) appendContent(wire, one)
  }
  if (target.isGemini3) for (const [at, content] of wire.entries()) wire[at] = withPlaceholderSignature(content)
  if (wire[0]?.role !== 'user') wire.unshift(userText('(The conversation begins here.)'))
  if (wire.at(-1)?.role === 'model') wire.push(userText('Continue.'))
  return wire
}

function toWireContent({ role: who, parts }: Content, target: WireTarget): WireContent {
  const role = who === 'model' ? 'model' : 'user'
  return { role, parts: toWireParts(parts, target, role) }
}

const userText = (text: string): WireContent => ({ role: 'user', parts: [{ text }] })

/** Two turns of the model in a row are one: a call may only follow a turn of the user's. */
function appendContent(wire: WireContent[], content: WireContent): void {
  const last = wire.at(-1)
  if (content.role !== 'model' || last?.role !== 'model') wire.push(content)
  else wire[wire.length - 1] = { role: 'model', parts: [...last.parts, ...content.parts] }
}

function toWireParts(parts: readonly Part[], target: WireTarget, role: WireContent['role']): JsonObject[] {
  return parts.map((part) => toWirePart(part, target, role)).filter((part) => part !== undefined)
}

/** Undefined when it is nothing to Gemini. */
function toWirePart(part: Part, target: WireTarget, role: WireContent['role']): JsonObject | undefined {
  const { partMetadata: _, functionCall, executableCode, codeExecutionResult, ...others } = dropForeignSignature(role, part)
  if (functionCall) return { ...others, functionCall: toWireCall(functionCall) }
  const isGeminis = role === 'model' && target.runsCode && !isRunByFramework(part)
  const code = isGeminis ? undefined : codeAsText(part)
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

/** What one agent overheard from another is not signed: it was thought by nobody in this conversation. */
function dropForeignSignature(role: WireContent['role'], part: Part): Part {
  if (role === 'model' || part.thoughtSignature === undefined) return part
  const { thoughtSignature: _, ...unsigned } = part
  return unsigned
}

const ATTRIBUTE_FIELDS = new Set(['thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution'])

function hasData(part: JsonObject): boolean {
  const data = Object.keys(part).filter(
    (field) => !ATTRIBUTE_FIELDS.has(field) && part[field] !== undefined && part[field] !== null,
  )
  const [only, ...more] = data
  if (only === undefined || more.length) return data.length > 0
  const { inlineData } = part
  return only === 'text' ? part.text !== '' : !(isRecord(inlineData) && !inlineData.data)
}

function toWireCall({ id, name, args }: FunctionCall): JsonObject {
  return { ...geminiId(id), name, args: isRecord(args) ? args : {} } // another model may have said anything
}

/** Our executor ran it: then the framework gave the id. */
function isRunByFramework({ executableCode, codeExecutionResult }: Part): boolean {
  const id = (executableCode ?? codeExecutionResult)?.id
  return id !== undefined && geminiId(id).id === undefined
}

/** What Gemini 3 takes in place of a signature it never gave: the call was another model's. */
const PLACEHOLDER_SIGNATURE = 'skip_thought_signature_validator'

/** Of calls made at once only the first has a signature. */
function withPlaceholderSignature(content: WireContent): WireContent {
  const at = content.parts.findIndex((part) => part.functionCall)
  const call = content.parts[at]
  if (content.role !== 'model' || !call || call.thoughtSignature !== undefined) return content
  return { role: 'model', parts: content.parts.with(at, { ...call, thoughtSignature: PLACEHOLDER_SIGNATURE }) }
}
