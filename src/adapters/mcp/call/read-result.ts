// The result of an MCP call, as the model and the event log get it.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import { ToolError } from '../../../core/error/error.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { describeInvalidResult } from '../../../core/schema/issues.ts'
import { keepParts, withParts } from '../../../engine/context/result-parts.ts'
import { MAX_BLOCKS, MAX_MEDIA, MAX_MEDIA_LENGTH } from '../limits.ts'
import type { ServerTool } from '../listing/server-tool.ts'

/**
 * Turns a result into a response: `text`, `structuredContent`, `resources`, `links`, and media as parts. Throws a `ToolError`
 * for a result with `isError`, and for structured content that does not match the schema of the tool.
 */
export function readResult(tool: ServerTool, result: unknown): JsonObject {
  if (!isRecord(result))
    throw new ToolError(`Tool "${tool.name}" returned no result object.`, { code: 'INVALID_RESULT' })
  const content = new ContentReader(result.content)
  if (result.isError === true) throw new ToolError(content.text || `Tool "${tool.name}" failed without a message.`)
  const { structuredContent } = result
  if (structuredContent !== undefined) checkStructured(tool, structuredContent)
  const response = content.toResponse(structuredContent)
  if (Object.keys(response).length === 0) response.status = 'completed'
  if (tool.resourceUri !== undefined) response._meta = appMeta(tool.resourceUri, result._meta)
  return content.media.length ? withParts(response, content.media) : response
}

/** Turns content blocks into a response: text, resources, links, and media as parts. */
export function readContent(blocks: readonly unknown[]): JsonObject {
  const content = new ContentReader(blocks)
  return withParts(content.toResponse(undefined), content.media)
}

/** What the model sees of a result that a front end shows: everything, media included, but the data for the front end. */
export function withoutAppMeta({ result }: { result: unknown }): unknown {
  if (!isRecord(result)) return result
  const { _meta, ...shown } = result
  return keepParts(result, shown)
}

function appMeta(resourceUri: string, meta: unknown): JsonObject {
  return { ...(isRecord(meta) && meta), ui: { resourceUri } }
}

function checkStructured({ name, outputSchema }: ServerTool, structuredContent: unknown): void {
  if (!outputSchema) return
  const parsed = compileSchema(outputSchema, `Tool "${name}"`).parse(structuredContent)
  if (parsed instanceof Promise || !parsed.issues) return // plain JSON Schema is checked at once
  throw new ToolError(describeInvalidResult(name, parsed.issues), { code: 'INVALID_RESULT' })
}

/** Does the text say the same as the structured content? Servers send both, for older clients. */
function repeats(text: string, structuredContent: unknown): boolean {
  if (structuredContent === undefined) return false
  const values = isRecord(structuredContent) ? Object.values(structuredContent) : []
  if (values.length === 1 && values[0] === text) return true
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(structuredContent)
  } catch {
    return false
  }
}

class ContentReader {
  readonly #texts: string[] = []
  readonly media: Part[] = []
  readonly resources: JsonObject[] = []
  readonly links: JsonObject[] = []
  /** How many blocks are left out. */
  leftOut = 0
  #mediaLength = 0

  constructor(blocks: unknown) {
    const all = Array.isArray(blocks) ? blocks : []
    for (const block of all.slice(0, MAX_BLOCKS)) this.#add(block)
    this.leftOut += Math.max(0, all.length - MAX_BLOCKS)
  }

  /** The response, without the media. */
  toResponse(structuredContent: unknown): JsonObject {
    const { text, resources, links, media, leftOut } = this
    return {
      ...(text !== '' && !repeats(text, structuredContent) && { text }),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(resources.length && { resources }),
      ...(links.length && { links }),
      ...(media.length && { media: media.map(({ inlineData }) => inlineData?.mimeType) }),
      ...(leftOut && { leftOut: `${leftOut} parts of the result are left out: they are too large or not valid.` }),
    }
  }

  get text(): string {
    return this.#texts.join('\n').toWellFormed()
  }

  #add(block: unknown): void {
    const { type, text, data, mimeType, resource } = isRecord(block) ? block : {}
    if (type === 'text' && typeof text === 'string') this.#texts.push(text)
    else if (type === 'image' || type === 'audio') this.#addMedia(data, mimeType)
    else if (type === 'resource' && isRecord(resource)) this.#addResource(resource)
    else if (type === 'resource_link' && isRecord(block))
      this.links.push(pick(block, ['uri', 'name', 'title', 'description', 'mimeType', 'size']))
    else this.leftOut++
  }

  #addResource(resource: JsonObject): void {
    const { blob, mimeType } = resource
    this.resources.push(pick(resource, ['uri', 'mimeType', 'text']))
    if (blob !== undefined) this.#addMedia(blob, mimeType ?? 'application/octet-stream')
  }

  #addMedia(data: unknown, mimeType: unknown): void {
    const isText = typeof data === 'string' && typeof mimeType === 'string'
    const fits = isText && this.media.length < MAX_MEDIA && this.#mediaLength + data.length <= MAX_MEDIA_LENGTH
    if (!fits || !MIME_TYPE.test(mimeType) || !isBase64(data)) {
      this.leftOut++
      return
    }
    this.#mediaLength += data.length
    this.media.push({ inlineData: { mimeType, data } })
  }
}

const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)
}

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {}
  for (const key of keys) {
    const value = from[key]
    if (typeof value === 'string' || typeof value === 'number') picked[key] = value
  }
  return picked
}
