// Messages in the format of Gemini and ADK: JSON with camelCase keys.
import { isRecord, type JsonObject, jsonSize } from '../base/json.ts'

/** The author of a content: the user, the model, or a tool. */
export type Role = 'user' | 'model' | 'tool'

/** A tool call of the model. */
export interface FunctionCall {
  /** The id of the call, unique in its session. */
  readonly id?: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments. */
  readonly args: JsonObject
}

/** The response to a tool call. */
export interface FunctionResponse {
  /** The id of the call. */
  readonly id?: string
  /** The name of the tool. */
  readonly name: string
  /** The result of the tool, or an error. */
  readonly response: JsonObject
  /** The result that the model gets instead of `response`; made by the tool's `toModelOutput`. */
  readonly modelOutput?: ModelOutput
  /** More responses follow: this is the handle of a long-running call, or progress. */
  readonly willContinue?: boolean
  /** When a live model reacts to the response. */
  readonly scheduling?: 'SILENT' | 'WHEN_IDLE' | 'INTERRUPT'
  /** Media that belongs to the result. */
  readonly parts?: readonly Part[]
}

/** Does another response of the call follow? True for the handle of long-running work, a partial result and progress. */
export function isHandle(response: FunctionResponse): boolean {
  return response.willContinue === true
}

/** Which response of its call it is: the only one, a handle that another one follows, or the last one after a handle. */
export function stageOf({ willContinue }: FunctionResponse): 'only' | 'handle' | 'last' {
  if (willContinue === undefined) return 'only'
  return willContinue ? 'handle' : 'last'
}

/** A tool result as the model gets it. */
export interface ModelOutput {
  /** The result. */
  readonly response: JsonObject
  /** Does the model also get the media of the response? */
  readonly showsMedia?: boolean
}

/** Media inside a message. */
export interface InlineData {
  /** The media type, such as `image/png`. */
  readonly mimeType: string
  /** The bytes as base64. */
  readonly data: string
  /** The name of the file. */
  readonly displayName?: string
}

/** A reference to a file. */
export interface FileData {
  /** The media type, such as `application/pdf`. */
  readonly mimeType?: string
  /** The address of the file. An `artifact://` address refers to an artifact. */
  readonly fileUri: string
  /** The name of the file. */
  readonly displayName?: string
}

/** Code that a model wrote to be executed. */
export interface ExecutableCode {
  /** The id of the execution. */
  readonly id?: string
  /** The language, such as `PYTHON`. */
  readonly language: string
  /** The code. */
  readonly code: string
}

/** The result of executed code. */
export interface CodeExecutionResult {
  /** The id of the execution. */
  readonly id?: string
  /** How the execution ended. */
  readonly outcome: 'OUTCOME_OK' | 'OUTCOME_FAILED' | 'OUTCOME_DEADLINE_EXCEEDED'
  /** The printed output, or the error. */
  readonly output?: string
}

/** One part of a content. It usually has one of these members. */
export interface Part {
  /** Text. */
  readonly text?: string
  /** Is the text the model's thinking? It is not part of the answer. */
  readonly thought?: boolean
  /** A signature of the provider, which it gets back unchanged in the next request. */
  readonly thoughtSignature?: string
  /** A tool call of the model. */
  readonly functionCall?: FunctionCall
  /** The response to a tool call. */
  readonly functionResponse?: FunctionResponse
  /** Media. */
  readonly inlineData?: InlineData
  /** A reference to a file. */
  readonly fileData?: FileData
  /** Code that a model wrote to be executed. */
  readonly executableCode?: ExecutableCode
  /** The result of executed code. */
  readonly codeExecutionResult?: CodeExecutionResult
  /** Settings of a video, such as its start and end. */
  readonly videoMetadata?: JsonObject
  /** Data of the provider, which it gets back unchanged in the next request. */
  readonly partMetadata?: JsonObject
}

/** One message: an author and its parts. */
export interface Content {
  /** The author. */
  readonly role: Role
  /** The parts, in order. */
  readonly parts: readonly Part[]
}

/** A tool as the model gets it. */
export interface FunctionDeclaration {
  /** The name of the tool. */
  readonly name: string
  /** What the tool does and when to call it. */
  readonly description: string
  /** The JSON Schema of the arguments. Undefined: the tool has no parameters. */
  readonly parametersJsonSchema?: JsonObject
  /** The JSON Schema of the result. */
  readonly responseJsonSchema?: JsonObject
  /** Does a live model wait for the response? Default: `BLOCKING`. */
  readonly behavior?: 'BLOCKING' | 'NON_BLOCKING'
}

/** A confirmation request, or the answer to one. In a request, `confirmed` is false. */
export interface ToolConfirmation {
  /** The question that the approver saw. */
  readonly hint: string
  /** True if the approver approved the call. */
  readonly confirmed: boolean
  /** Data that the tool asked for, or that the approver added. */
  readonly payload?: unknown
}

/** The arguments of an `adk_request_confirmation` call, as clients see them. */
export interface ConfirmationToolArguments {
  /** The call that waits for the approval. */
  readonly originalFunctionCall: FunctionCall
  /** The question to the approver. */
  readonly toolConfirmation: ToolConfirmation
}

/** The arguments of an `adk_request_input` call, as clients see them. */
export interface InputToolArguments {
  /** The question to the user. */
  readonly message: string
  /** The JSON Schema of the answer. In snake case, as adk-web reads it. */
  readonly response_schema?: JsonObject
}

/** A user message: text, a content, or its parts. */
export type Message = string | Content | readonly Part[]

/** Is it a content with a list of parts? */
export const hasParts = (value: unknown): value is Content =>
  isRecord(value) && Array.isArray(value.parts) && value.parts.every(isRecord)

/** The text of a content, without the model's thinking. */
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

/** Is a part media or a reference to a file? */
export const hasMedia = (parts: readonly Part[]): boolean =>
  parts.some(({ inlineData, fileData }) => inlineData !== undefined || fileData !== undefined)

/**
 * The approximate size of parts as JSON, in bytes. Stops counting above `most`. Text parts, the most common ones, are
 * measured by their length.
 */
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
