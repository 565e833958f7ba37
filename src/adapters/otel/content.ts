// Content as attributes: messages in the form of the convention, cut, and passed through `redact`.

import type { Attributes } from '@opentelemetry/api'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { Content, Part } from '../../core/content/content.ts'
import { messageOf } from '../../core/error/error.ts'
import type { ModelOperation, Operation, OperationEnd } from '../../engine/observe/operation.ts'
import { CONTENT, type ContentAttribute } from './names.ts'
import type { OtelOptions } from './otel-options.ts'

/** The most bytes of one value. */
const MAX_BYTES = 8_192

const encoder = new TextEncoder()
const buffer = new Uint8Array(MAX_BYTES)

/** Writes content into attributes. */
export class ContentWriter {
  readonly #redact: OtelOptions['redact']

  constructor(redact: OtelOptions['redact']) {
    this.#redact = redact
  }

  /** What an operation begins with: what a model is asked, the arguments of a call. */
  ofStart(operation: Operation): Attributes {
    if (operation.type === 'model') return this.#ofRequest(operation)
    return 'args' in operation ? this.#attribute(CONTENT.arguments, operation.args) : {}
  }

  #ofRequest({ request }: ModelOperation): Attributes {
    if (!request) return {}
    const { systemInstruction, tools } = request.config
    return {
      ...(systemInstruction !== undefined &&
        this.#attribute(CONTENT.instructions, [{ type: 'text', content: systemInstruction }])),
      ...(tools?.length && this.#attribute(CONTENT.tools, tools)),
      // the latest messages: the value is cut at its end, and a request holds the whole conversation
      ...this.#attribute(CONTENT.input, request.contents.slice(-MAX_MESSAGES).map(messageOfContent)),
    }
  }

  /** What an operation ends with: the reply of a model, the result of a call. */
  ofEnd({ type }: Operation, { response, result }: OperationEnd): Attributes {
    if (type === 'model' && response?.content)
      return this.#attribute(CONTENT.output, [messageOfContent(response.content)])
    return (type === 'tool' || type === 'call') && result ? this.#attribute(CONTENT.result, result) : {}
  }

  /** The message of what was thrown. */
  ofError(error: unknown): string | undefined {
    return error === undefined ? undefined : this.#text('error', messageOf(error))
  }

  #attribute(name: ContentAttribute, value: unknown): Attributes {
    const text = this.#text(name, value)
    return text === undefined ? {} : { [name]: text }
  }

  #text(name: ContentAttribute | 'error', value: unknown): string | undefined {
    try {
      const { value: copy } = toJsonValue(value, MAX_BYTES) // redact() may change its argument
      const shown = this.#redact ? toJsonValue(this.#redact(copy, name), MAX_BYTES).value : copy
      if (shown === null) return undefined
      return cut(typeof shown === 'string' ? shown : JSON.stringify(shown))
    } catch {
      return undefined // what cannot be redacted is not exported
    }
  }
}

/** Earlier messages are in the spans of earlier calls. */
const MAX_MESSAGES = 20

function cut(text: string): string {
  if (text.length * 3 <= MAX_BYTES) return text
  const { read } = encoder.encodeInto(text, buffer)
  return read < text.length ? text.slice(0, read) : text
}

function messageOfContent({ role, parts }: Content): object {
  return { role: role === 'model' ? 'assistant' : role, parts: parts.flatMap(partOf) }
}

function partOf(part: Part): object | readonly object[] {
  const { text, thought, functionCall: call, functionResponse: response, inlineData, fileData } = part
  if (text !== undefined) return { type: thought ? 'reasoning' : 'text', content: text }
  if (call) return { type: 'tool_call', id: call.id, name: call.name, arguments: call.args }
  if (response) return { type: 'tool_call_response', id: response.id, response: response.response }
  if (inlineData) return { type: 'blob', ...mediaOf(inlineData.mimeType), content: inlineData.data }
  if (fileData) return { type: 'uri', ...mediaOf(fileData.mimeType), uri: fileData.fileUri }
  return []
}

function mediaOf(mimeType = ''): object {
  const [kind] = mimeType.split('/')
  const modality = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined
  return { ...(modality && { modality }), ...(mimeType && { mime_type: mimeType }) }
}
