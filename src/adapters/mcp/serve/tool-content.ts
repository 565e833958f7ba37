// Turns the result of a call into the result of `tools/call`.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import { isFailure } from '../../../core/event/invocation-state.ts'
import type { CallResult } from '../../../engine/runner/single-call/call-outcome.ts'
import type { OutputSchema } from './output-schema.ts'

/** The result of `tools/call`. */
export interface ToolContent {
  /** What the client's model sees. */
  readonly content: ContentBlock[]
  /** The result as an object that matches the tool's `outputSchema`. */
  readonly structuredContent?: JsonObject
  /** True if the call failed. */
  readonly isError?: true
  readonly [other: string]: unknown
}

/** A block of `content`. */
type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: { readonly uri: string; readonly mimeType: string } & ResourceData }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string; readonly mimeType?: string }

type ResourceData = { readonly text: string } | { readonly blob: string }

/** The content of a result: text, media, and the structured result if the tool has an output schema. */
export async function toolContent(result: CallResult, schema: OutputSchema | undefined): Promise<ToolContent> {
  const { response, modelOutput, parts } = result
  if (isFailure(response)) return errorContent(typeof response.error === 'string' ? response.error : textOf(response))
  const media = modelOutput && !modelOutput.showsMedia ? [] : parts
  const content = [{ type: 'text', text: textOf(modelOutput?.response ?? response) } as const, ...media.flatMap(block)]
  if (!schema) return { content }
  const { issues } = await schema.parse(response)
  if (!issues) return { content, structuredContent: response }
  // a policy, a callback or the size limit has changed the result: clients refuse a result that breaks the schema
  return errorContent(`The result does not match the output schema of the tool: ${textOf(response)}`)
}

/** A failed call. */
export function errorContent(text: string): ToolContent {
  return { content: [{ type: 'text', text }], isError: true }
}

/** The text of a response: a single text as it is, everything else as JSON. */
function textOf(response: JsonObject): string {
  const [key, ...others] = Object.keys(response)
  const only = key !== undefined && others.length === 0 && TEXT_KEYS.has(key) ? response[key] : undefined
  return typeof only === 'string' ? only : JSON.stringify(response)
}

/** The member that holds the text of an agent's answer, and of a tool that returns a text. */
const TEXT_KEYS: ReadonlySet<string> = new Set(['text', 'result'])

function block({ text, inlineData, fileData }: Part, at: number): ContentBlock[] {
  if (text !== undefined) return [{ type: 'text', text }]
  if (fileData) {
    const { fileUri: uri, mimeType, displayName: name = 'file' } = fileData
    return /^https?:/.test(uri) ? [{ type: 'resource_link', uri, name, ...(mimeType && { mimeType }) }] : []
  }
  if (!inlineData) return []
  const { mimeType, data, displayName = String(at) } = inlineData
  if (mimeType.startsWith('image/')) return [{ type: 'image', data, mimeType }]
  if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }]
  const uri = `toolwright://result/${encodeURIComponent(displayName)}`
  const content = mimeType.startsWith('text/') ? { text: decodeText(data) } : { blob: data }
  return [{ type: 'resource', resource: { uri, mimeType, ...content } }]
}

function decodeText(data: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)))
}
