// Converts contents to a prompt. Providers require exactly one result for every tool call, directly after the message
// with the call. The prompt guarantees this for every history.
import { isRecord } from '../../../core/base/json.ts'
import { codeAsText } from '../../../core/content/code-text.ts'
import type { Content, FunctionCall, FunctionResponse, Part } from '../../../core/content/content.ts'
import { isFailure } from '../../../core/event/invocation-state.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { PromptMessage, ProviderOptions, ToolCallPart, ToolResultPart, UserPart } from '../ai-sdk-types.ts'
import { forbidJsonEncoding } from '../errors/unsupported.ts'
import { providerOptionsOf, readStoredMetadata } from '../provider-metadata.ts'
import {
  canReadFile,
  describeMedia,
  fitsToolResult,
  isImage,
  type PromptTarget,
  toFilePart,
  toResultContent,
} from './media.ts'

/** The prompt for a request. */
export function toPrompt({ contents, config }: LlmRequest, target: PromptTarget): PromptMessage[] {
  const prompt = new Prompt(target)
  if (config.systemInstruction) prompt.messages.push({ role: 'system', content: config.systemInstruction })
  for (const content of contents) prompt.add(content)
  prompt.completeResults()
  return prompt.messages
}

/** A tool call that has no result yet. */
interface OpenCall {
  readonly id: string
  /** The name the provider uses for the tool. */
  readonly name: string
  /** Provider options of the call. They are repeated on its result. */
  readonly options: { providerOptions?: ProviderOptions }
}

class Prompt {
  readonly messages: PromptMessage[] = []
  readonly #target: PromptTarget
  #open: OpenCall[] = []
  /** Parts of the user message that follows the results. */
  #afterResults: UserPart[] = []
  #callsWithoutId = 0

  constructor(target: PromptTarget) {
    this.#target = target
  }

  add({ role, parts }: Content): void {
    if (role === 'model') {
      this.completeResults()
      this.#addAssistant(parts)
    } else if (role === 'tool') this.#addResponses(parts)
    else {
      for (const { functionResponse } of parts) if (functionResponse) this.#addResponse(functionResponse, [])
      this.completeResults()
      this.#addUser(parts.flatMap((part) => this.#toUserParts(part)))
    }
  }

  /** Adds an error result for each call without a result, and the user message that follows the results. */
  completeResults(): void {
    for (const call of this.#open)
      this.#addResult(call, { type: 'error-json', value: { error: 'No result was recorded.' } })
    this.#open = []
    this.#addUser(this.#afterResults)
    this.#afterResults = []
  }

  #addUser(content: UserPart[]): void {
    if (content.length) this.messages.push({ role: 'user', content })
  }

  /** Converts a part of a user message. Ignores stored metadata, which any client could have written. */
  #toUserParts(part: Part): UserPart[] {
    const file = toFilePart(part, this.#target)
    if (file) return [file]
    const text = part.text ?? codeAsText(part)
    return text ? [{ type: 'text', text }] : []
  }

  #addAssistant(parts: readonly Part[]): void {
    const content = parts.flatMap((part): object[] => {
      const stored = readStoredMetadata(part)
      if (stored.part) return [stored.part]
      if (part.functionCall) return [this.#toCallPart(part, part.functionCall)]
      const options = providerOptionsOf(part)
      if (part.inlineData) return [toFilePart(part, this.#target, options.providerOptions) ?? []].flat()
      const text = part.text ?? codeAsText(part) ?? fileAsText(part)
      // a part without text can carry a signature
      if (text === undefined || (text === '' && !options.providerOptions)) return []
      return [{ type: part.thought && !stored.isText ? 'reasoning' : 'text', text, ...options }]
    })
    if (content.length) this.messages.push({ role: 'assistant', content })
  }

  #toCallPart(part: Part, { id = `call-${++this.#callsWithoutId}`, name: toolName, args }: FunctionCall): ToolCallPart {
    const options = providerOptionsOf(part)
    const name = this.#target.names.toProviderName(toolName)
    this.#open.push({ id, name, options })
    const { input } = readStoredMetadata(part)
    const sentInput = input === undefined && isRecord(args) ? args : { invalidArguments: input ?? args }
    return { type: 'tool-call', toolCallId: id, toolName: name, input: sentInput, ...options }
  }

  /** Adds tool responses. Media parts after a response belong to that response. */
  #addResponses(parts: readonly Part[]): void {
    for (let at = 0; at < parts.length; ) {
      const response = parts[at]?.functionResponse
      const from = at++
      while (at < parts.length && !parts[at]?.functionResponse) at++
      if (response) this.#addResponse(response, parts.slice(from + 1, at))
      else this.#afterResults.push(...parts.slice(from, at).flatMap((part) => this.#mediaParts(part)))
    }
  }

  #addResponse({ id, name, response, parts = [] }: FunctionResponse, after: readonly Part[]): void {
    const media = [...parts, ...after]
    const call = this.#takeOpenCall(id, this.#target.names.toProviderName(name))
    if (!call) {
      // providers reject a result without its call
      const text = `The result of ${this.#target.names.toProviderName(name)}: ${JSON.stringify(response)}`
      this.#afterResults.push({ type: 'text', text }, ...media.flatMap((part) => this.#mediaParts(part)))
      return
    }
    const inside: object[] = []
    const outside: UserPart[] = []
    for (const part of media) {
      const file =
        this.#isSent(part) && fitsToolResult(part, this.#target) ? toResultContent(part, this.#target) : undefined
      if (file) inside.push(file)
      else outside.push(...this.#mediaParts(part))
    }
    if (inside.length) {
      const value = [{ type: 'text', text: JSON.stringify(response) }, ...inside]
      this.#addResult(call, {
        type: 'content',
        value: this.#target.media === 'images-in-result' ? forbidJsonEncoding(value) : value,
      })
    } else this.#addResult(call, { type: isFailure(response) ? 'error-json' : 'json', value: response })
    if (outside.length)
      this.#afterResults.push(
        { type: 'text', text: `${call.name} returned this media with its result (${call.id}):` },
        ...outside,
      )
  }

  /** Media of a result, after a text that describes it. */
  #mediaParts(part: Part): UserPart[] {
    const description = describeMedia(part)
    if (description === undefined) return this.#toUserParts(part)
    const isSent = this.#isSent(part)
    const text = isSent ? `${description}:` : `${description}, which this model cannot read.`
    return [{ type: 'text', text }, ...(isSent ? this.#toUserParts(part) : [])]
  }

  #isSent(part: Part): boolean {
    const { media } = this.#target
    if (media === 'text-note' || (media === 'images-in-user-message' && !isImage(part))) return false
    return canReadFile(part, this.#target)
  }

  /** Removes and returns the open call of a response. A response without an id belongs to the first call of its name. */
  #takeOpenCall(id: string | undefined, name: string): OpenCall | undefined {
    const at = this.#open.findIndex((call) => (id === undefined ? call.name === name : call.id === id))
    return at < 0 ? undefined : this.#open.splice(at, 1)[0]
  }

  #addResult({ id, name, options }: OpenCall, output: ToolResultPart['output']): void {
    const result: ToolResultPart = { type: 'tool-result', toolCallId: id, toolName: name, output, ...options }
    const last = this.messages.at(-1)
    if (last?.role === 'tool') last.content.push(result)
    else this.messages.push({ role: 'tool', content: [result] })
  }
}

/** A file that the model generated at a URL, as text: no provider accepts a URL in an assistant message. */
function fileAsText({ fileData }: Part): string | undefined {
  return fileData && `File (${fileData.mimeType ?? 'unknown type'}): ${fileData.fileUri}`
}
