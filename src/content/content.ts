// The wire types of Gemini and ADK: plain JSON, camelCase.
import { isRecord, type JsonObject, jsonSize } from '../base/json.ts'

export type Role = 'user' | 'model' | 'tool'

export interface FunctionCall {
  readonly id?: string
  readonly name: string
  readonly args: JsonObject
}

export interface FunctionResponse {
  readonly id?: string
  readonly name: string
  readonly response: JsonObject
  /** What the model sees instead of `response`; made by the tool's `toModelOutput`. */
  readonly modelOutput?: ModelOutput
  /** More is to come: a long-running call's handle, or progress. */
  readonly willContinue?: boolean
  readonly scheduling?: 'SILENT' | 'WHEN_IDLE' | 'INTERRUPT'
  /** Media that belongs to the result. */
  readonly parts?: readonly Part[]
}

/** A result as the model sees it. */
export interface ModelOutput {
  readonly response: JsonObject
  /** The media beside the response is for the model too. */
  readonly showsMedia?: boolean
}

export interface Blob {
  readonly mimeType: string
  /** base64 */
  readonly data: string
  readonly displayName?: string
}

export interface FileData {
  readonly mimeType?: string
  readonly fileUri: string
  readonly displayName?: string
}

export interface ExecutableCode {
  readonly id?: string
  readonly language: string
  readonly code: string
}

export interface CodeExecutionResult {
  readonly id?: string
  readonly outcome: 'OUTCOME_OK' | 'OUTCOME_FAILED' | 'OUTCOME_DEADLINE_EXCEEDED'
  readonly output?: string
}

export interface Part {
  readonly text?: string
  /** The text is the model's thinking, not its answer. */
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly functionCall?: FunctionCall
  readonly functionResponse?: FunctionResponse
  readonly inlineData?: Blob
  readonly fileData?: FileData
  readonly executableCode?: ExecutableCode
  readonly codeExecutionResult?: CodeExecutionResult
  readonly videoMetadata?: JsonObject
  /** What a provider needs back unchanged on the next turn. */
  readonly partMetadata?: JsonObject
}

export interface Content {
  readonly role: Role
  readonly parts: readonly Part[]
}

/** A tool as the model sees it. */
export interface FunctionDeclaration {
  readonly name: string
  readonly description: string
  readonly parametersJsonSchema?: JsonObject
  readonly responseJsonSchema?: JsonObject
  readonly behavior?: 'BLOCKING' | 'NON_BLOCKING'
}

/** A human's answer to a confirmation request, or the request itself while `confirmed` is false. */
export interface ToolConfirmation {
  readonly hint: string
  readonly confirmed: boolean
  readonly payload?: unknown
}

/** What people pass as a message. */
export type Message = string | Content | readonly Part[]

/** Is it a content: does it have a list of parts? */
export function hasParts(value: unknown): value is Content {
  return isRecord(value) && Array.isArray(value.parts) && value.parts.every(isRecord)
}

/** The visible text of a content: no thoughts. */
export function textOf(content: Content | undefined): string {
  if (!content) return ''
  let text = ''
  for (let at = 0; at < content.parts.length; at++) {
    const part = content.parts[at] as Part
    if (part.text !== undefined && !part.thought) text += part.text
  }
  return text
}

/** The function calls of a content, in order. */
export function functionCallsOf(content: Content | undefined): readonly FunctionCall[] {
  const calls: FunctionCall[] = []
  if (content) for (const part of content.parts) if (part.functionCall) calls.push(part.functionCall)
  return calls
}

/** Is there a file among the parts? */
export function hasMedia(parts: readonly Part[]): boolean {
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part
    if (part.inlineData !== undefined || part.fileData !== undefined) return true
  }
  return false
}
/** About the size of parts as JSON, in bytes. Stops counting above `most`. A delta of text, the usual part, is not walked. */
export function partsSize(parts: readonly Part[], most: number): number {
  let bytes = 2
  for (let at = 0; at < parts.length && bytes <= most; at++) {
    const part = parts[at] as Part
    bytes += isText(part) ? part.text.length + 12 : jsonSize(part, most - bytes)
  }
  return bytes
}

function isText(part: Part): part is Part & { readonly text: string } {
  if (typeof part?.text !== 'string') return false
  for (const key in part) if (key !== 'text' && key !== 'thought') return false
  return true
}
