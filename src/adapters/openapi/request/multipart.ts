// Bodies of multipart/form-data (RFC 7578). `FormData` cannot send JSON without a file name, and its boundary is hidden.
import type { JsonObject } from '../../../core/base/json.ts'
import { newId } from '../../../core/base/new-id.ts'
import type { RequestBody } from '../operation.ts'
import type { EncodedBody, LoadFile } from './encoded-body.ts'
import { serializePairs, textOf } from './serialize-value.ts'

interface FormPart {
  readonly name: string
  readonly filename?: string | undefined
  readonly contentType?: string | undefined
  readonly bytes: Uint8Array
}

/** Encodes the members of an object as parts. Arrays become one part for each item, objects become JSON. */
export async function buildMultipart(body: RequestBody, members: JsonObject, loadFile: LoadFile): Promise<EncodedBody> {
  const parts: FormPart[] = []
  for (const [name, value] of Object.entries(members)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === null || item === undefined) continue
      parts.push(
        ...(body.fileProperties.has(name)
          ? [await filePart(body, name, item, loadFile)]
          : valueParts(body, name, item)),
      )
    }
  }
  const boundary = `toolwright-${newId()}`
  const type = body.contentType.includes('*') ? 'multipart/form-data' : body.contentType
  return { contentType: `${type}; boundary=${boundary}`, bytes: joinParts(parts, boundary) }
}

async function filePart(body: RequestBody, name: string, value: unknown, loadFile: LoadFile): Promise<FormPart> {
  const { filename, mimeType, bytes } = await loadFile(value)
  const wanted = body.encoding.get(name)?.contentType
  // the encoding may list several types or a range: then the type of the artifact is sent
  const contentType = wanted === undefined || /[*,]/.test(wanted) ? mimeType : wanted
  return { name, filename, contentType, bytes }
}

function valueParts(body: RequestBody, name: string, value: unknown): FormPart[] {
  const { contentType, style, explode = true } = body.encoding.get(name) ?? {}
  if (style !== undefined && typeof value === 'object')
    return serializePairs(value, { name, style, explode, encode: String }).map((pair) => {
      const at = pair.indexOf('=')
      return { name: pair.slice(0, at), bytes: utf8(pair.slice(at + 1)) }
    })
  const type = contentType ?? (typeof value === 'object' ? 'application/json' : undefined)
  return [{ name, contentType: type, bytes: utf8(textOf(value)) }]
}

function joinParts(parts: readonly FormPart[], boundary: string): Uint8Array<ArrayBuffer> {
  const chunks = parts.flatMap(({ name, filename, contentType, bytes }) => {
    const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`
    const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType.replace(/[^ -~]/g, '')}`
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${type}\r\n\r\n`
    return [utf8(head), bytes, utf8('\r\n')]
  })
  chunks.push(utf8(`--${boundary}--\r\n`))
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** A name in quotes, as browsers write it: it cannot end its header. */
function quoted(text: string): string {
  return text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
