// From contents to a prompt. Every call is followed by exactly one result, right after the message that holds it: that is
// what providers insist on, whatever the history looks like.
import { isRecord } from '../../base/json.ts'
import { codeAsText } from '../../content/code-text.ts'
import type { Content, FunctionCall, FunctionResponse, Part } from '../../content/content.ts'
import { isFailure } from '../../event/fold.ts'
import type { LlmRequest } from '../../tool/tool.ts'
import { fitsResult, isPicture, isReadable, mediaInWords, type Target, toFile, toResultFile } from './media.ts'
import { keptOf, providerOptionsOf } from '../provider-metadata.ts'
import type { Bag, PromptMessage, ToolCallPart, ToolResultPart, UserPart } from '../ai-sdk-types.ts'
import { refusingJson } from '../errors/unsupported.ts'

export function toPrompt({ contents, config }: LlmRequest, target: Target): PromptMessage[] {
  const prompt = new Prompt(target)
  if (config.systemInstruction) prompt.messages.push({ role: 'system', content: config.systemInstruction })
  for (const content of contents) prompt.add(content)
  prompt.settle()
  return prompt.messages
}

/** A call nobody has answered yet. */
interface OpenCall {
  readonly id: string
  /** As the provider sees it. */
  readonly name: string
  /** Results carry what the provider hung on the call. */
  readonly options: { providerOptions?: Bag }
}

class Prompt {
  readonly messages: PromptMessage[] = []
  readonly #target: Target
  #open: OpenCall[] = []
  /** What must be shown as the user's once all results are there. */
  #late: UserPart[] = []
  #unnamed = 0

  constructor(target: Target) {
    this.#target = target
  }

  add({ role, parts }: Content): void {
    if (role === 'model') {
      this.settle()
      this.#assistant(parts)
    } else if (role === 'tool') this.#results(parts)
    else {
      for (const { functionResponse } of parts) if (functionResponse) this.#result(functionResponse, [])
      this.settle()
      this.#user(parts.flatMap((part) => this.#userPart(part)))
    }
  }

  /** Calls that were never answered are answered, and what came beside the results is shown. */
  settle(): void {
    for (const call of this.#open)
      this.#answer(call, { type: 'error-json', value: { error: 'No result was recorded.' } })
    this.#open = []
    this.#user(this.#late)
    this.#late = []
  }

  #user(content: UserPart[]): void {
    if (content.length) this.messages.push({ role: 'user', content })
  }

  /** What a part remembers counts only where a model said it: anybody can write it on a part of the user's. */
  #userPart(part: Part): UserPart[] {
    const file = toFile(part, this.#target)
    if (file) return [file]
    const text = part.text ?? codeAsText(part)
    return text ? [{ type: 'text', text }] : []
  }

  #assistant(parts: readonly Part[]): void {
    const content = parts.flatMap((part): object[] => {
      const kept = keptOf(part)
      if (kept.part) return [kept.part]
      if (part.functionCall) return [this.#call(part, part.functionCall)]
      const options = providerOptionsOf(part)
      if (part.inlineData) return [toFile(part, this.#target, options.providerOptions) ?? []].flat()
      const text = part.text ?? codeAsText(part) ?? fileAsText(part)
      // a signature may hang on a part that says nothing
      if (text === undefined || (text === '' && !options.providerOptions)) return []
      return [{ type: part.thought && !kept.isText ? 'reasoning' : 'text', text, ...options }]
    })
    if (content.length) this.messages.push({ role: 'assistant', content })
  }

  #call(part: Part, { id = `call-${++this.#unnamed}`, name: ours, args }: FunctionCall): ToolCallPart {
    const options = providerOptionsOf(part)
    const name = this.#target.names.toSent(ours)
    this.#open.push({ id, name, options })
    const { input } = keptOf(part)
    const said = input === undefined && isRecord(args) ? args : { invalidArguments: input ?? args }
    return { type: 'tool-call', toolCallId: id, toolName: name, input: said, ...options }
  }

  /** Media after a response belongs to it. */
  #results(parts: readonly Part[]): void {
    for (let at = 0; at < parts.length; ) {
      const response = parts[at]?.functionResponse
      const from = at++
      while (at < parts.length && !parts[at]?.functionResponse) at++
      if (response) this.#result(response, parts.slice(from + 1, at))
      else this.#late.push(...parts.slice(from, at).flatMap((part) => this.#besidePart(part)))
    }
  }

  #result({ id, name, response, parts = [] }: FunctionResponse, after: readonly Part[]): void {
    const media = [...parts, ...after]
    const call = this.#take(id, this.#target.names.toSent(name))
    if (!call) {
      // nobody called it, as far as this prompt goes: no provider takes such a result
      const text = `The result of ${this.#target.names.toSent(name)}: ${JSON.stringify(response)}`
      this.#late.push({ type: 'text', text }, ...media.flatMap((part) => this.#besidePart(part)))
      return
    }
    const inside: object[] = []
    const beside: UserPart[] = []
    for (const part of media) {
      const file = this.#isShown(part) && fitsResult(part, this.#target) ? toResultFile(part, this.#target) : undefined
      if (file) inside.push(file)
      else beside.push(...this.#besidePart(part))
    }
    if (inside.length) {
      const value = [{ type: 'text', text: JSON.stringify(response) }, ...inside]
      this.#answer(call, { type: 'content', value: this.#target.media === 'result' ? refusingJson(value) : value })
    } else this.#answer(call, { type: isFailure(response) ? 'error-json' : 'json', value: response })
    if (beside.length)
      this.#late.push({ type: 'text', text: `${call.name} gave this with its result (${call.id}):` }, ...beside)
  }

  /** Media of a result, after words that say what it is. */
  #besidePart(part: Part): UserPart[] {
    const words = mediaInWords(part)
    if (words === undefined) return this.#userPart(part)
    const isShown = this.#isShown(part)
    const text = isShown ? `${words}:` : `${words}, which this model cannot be shown.`
    return [{ type: 'text', text }, ...(isShown ? this.#userPart(part) : [])]
  }

  #isShown(part: Part): boolean {
    const { media } = this.#target
    if (media === 'note' || (media === 'pictures' && !isPicture(part))) return false
    return isReadable(part, this.#target)
  }

  /** By id; a response without one answers the first open call of its name. */
  #take(id: string | undefined, name: string): OpenCall | undefined {
    const at = this.#open.findIndex((call) => (id === undefined ? call.name === name : call.id === id))
    return at < 0 ? undefined : this.#open.splice(at, 1)[0]
  }

  #answer({ id, name, options }: OpenCall, output: ToolResultPart['output']): void {
    const result: ToolResultPart = { type: 'tool-result', toolCallId: id, toolName: name, output, ...options }
    const last = this.messages.at(-1)
    if (last?.role === 'tool') last.content.push(result)
    else this.messages.push({ role: 'tool', content: [result] })
  }
}

/** A file the model made and left elsewhere: no provider takes an address in an answer. */
function fileAsText({ fileData }: Part): string | undefined {
  return fileData && `File (${fileData.mimeType ?? 'unknown type'}): ${fileData.fileUri}`
}
