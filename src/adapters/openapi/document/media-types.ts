import type { RequestBody } from '../operation.ts'

/** How a media type is encoded, and how much it is preferred: the lowest rank first. */
interface MediaKind {
  /** How the body is encoded. */
  readonly kind: RequestBody['kind']
  /** The place in the order of preference. */
  readonly rank: number
}

/** How a media type is sent; undefined if it is not a media type. Unknown types, such as XML, are sent as text. */
export function mediaKind(mediaType: string): MediaKind | undefined {
  const essence = (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase()
  if (!/^[^\s/]+\/[^\s/]+$/.test(essence)) return undefined
  if (/^(application|text)\/json$|\+json$|^\*\/\*$|^application\/\*$/.test(essence)) return { kind: 'json', rank: 0 }
  if (essence === 'application/x-www-form-urlencoded') return { kind: 'form', rank: 1 }
  if (essence === 'multipart/form-data' || essence === 'multipart/*') return { kind: 'multipart', rank: 2 }
  if (essence.startsWith('text/') && essence !== 'text/xml') return { kind: 'text', rank: 3 }
  if (/^(image|audio|video|font|model)\/(?!svg)/.test(essence) || BINARY.test(essence))
    return { kind: 'binary', rank: 4 }
  return { kind: 'text', rank: 5 }
}

const BINARY =
  /^application\/(octet-stream|pdf|zip|gzip|x-gzip|x-tar|x-zip-compressed|binary|wasm|vnd\.openxmlformats.*)$/

/** The media type that is sent. A range is replaced by its usual member, except a range of files. */
export function toSentType(mediaType: string): string {
  const sent = new Map([
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/*', 'text/plain'],
    ['multipart/*', 'multipart/form-data'],
  ])
  return sent.get(mediaType.trim().toLowerCase()) ?? mediaType.trim()
}
