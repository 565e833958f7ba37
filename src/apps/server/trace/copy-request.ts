// Copies what a model was asked and replied: bounded, without binary data and without what may be a secret.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { hideSecrets } from '../../../core/error/hide-secrets.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { LlmResponse } from '../../../engine/model/model.ts'

/** The most characters of one request, and of one reply. */
const MAX_CHARACTERS = 1_000_000
/** Longer texts are cut to their two ends. */
const MAX_TEXT = 64_000
/** The most messages of one request. */
const MAX_CONTENTS = 2_000

/** A request as it is shown. */
export interface RequestCopy {
  /** The name of the model. */
  readonly model?: string
  /** The latest messages. */
  readonly contents: readonly unknown[]
  /** The number of earlier messages that are not shown. */
  readonly leftOut: number
  /** Instruction, tools and settings. */
  readonly config?: unknown
}

/** Copies a request. Callbacks may have put anything into it. */
export function copyRequest(request: LlmRequest): RequestCopy {
  try {
    const config = copyConfig(request.config)
    const { model } = request
    return { ...(typeof model === 'string' && { model }), ...copyContents(request.contents, sizeOf(config)), config }
  } catch {
    return { contents: [], leftOut: 0, config: UNREADABLE }
  }
}

/** Copies the latest messages: those that a request adds are at its end. `used`: how many characters are used already. */
export function copyContents(contents: unknown, used = 0): Pick<RequestCopy, 'contents' | 'leftOut'> {
  if (!Array.isArray(contents)) return { contents: [], leftOut: 0 }
  const copies: unknown[] = []
  let left = MAX_CHARACTERS - used
  while (copies.length < Math.min(contents.length, MAX_CONTENTS) && left > 0) {
    const content = copyContent(contents[contents.length - 1 - copies.length], left)
    left -= sizeOf(content)
    copies.push(content)
  }
  return { contents: copies.reverse(), leftOut: contents.length - copies.length }
}

/** Copies what a model replied. */
export function copyReply(response: LlmResponse): unknown {
  try {
    const { content, ...others } = response
    return { ...(copy(others) as object), content: copyContent(content, MAX_CHARACTERS) }
  } catch {
    return UNREADABLE
  }
}

const UNREADABLE = '[unreadable]'

/** Copies a message. Of a file, its type and size stay. */
function copyContent(content: unknown, maxCharacters: number): unknown {
  try {
    if (!isRecord(content) || !Array.isArray(content.parts)) return copy(content, maxCharacters)
    return copy({ ...content, parts: content.parts.map(withoutBytes) }, maxCharacters)
  } catch {
    return UNREADABLE
  }
}

function withoutBytes(part: unknown): unknown {
  const media = isRecord(part) ? part.inlineData : undefined
  if (!isRecord(part) || !isRecord(media)) return part
  const { data } = media
  const size = typeof data === 'string' ? `${data.length} characters` : 'data'
  return { ...part, inlineData: { ...media, data: `[... ${size} left out ...]` } }
}

/** Copies the configuration. Declarations and schemas have names of parameters, not values: `password` may be one of them. */
function copyConfig(config: unknown): unknown {
  const copied = copy(config)
  if (!isRecord(copied)) return copied
  const { systemInstruction, tools, responseJsonSchema, responseSchema, ...settings } = copied
  const shown: JsonObject = { ...(hideIn(settings) as JsonObject) }
  if (systemInstruction !== undefined) shown.systemInstruction = systemInstruction
  if (responseJsonSchema !== undefined) shown.responseJsonSchema = responseJsonSchema
  if (responseSchema !== undefined) shown.responseSchema = responseSchema
  if (tools !== undefined) shown.tools = Array.isArray(tools) ? tools.map(copyTool) : hideIn(tools)
  return shown
}

function copyTool(entry: unknown): unknown {
  if (!isRecord(entry)) return hideIn(entry)
  const { functionDeclarations, ...others } = entry
  const shown = hideIn(others) as JsonObject
  return functionDeclarations === undefined ? shown : { ...shown, functionDeclarations }
}

/** Members that hold keys, tokens or headers. */
const SECRET =
  /^(?:headers?|.*auth|authorization.*|(?:api[-_]?)?authconfig|cookies?|bearer|key|.*token|.*api[-_]?key.*|.*private[-_]?key|.*(?:secret|passwo?r?d|credentials?))$/i

/** Replaces what may be a secret. */
function hideIn(value: unknown): unknown {
  if (typeof value === 'string') return hideSecrets(value)
  if (Array.isArray(value)) return value.map(hideIn)
  if (!isRecord(value)) return value
  const shown = Object.entries(value).map(([key, member]) => [key, SECRET.test(key) ? '[hidden]' : hideIn(member)])
  return Object.fromEntries(shown)
}

function copy(value: unknown, maxCharacters = MAX_CHARACTERS): unknown {
  return toJsonValue(value, MAX_TEXT, maxCharacters).value
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}
