import type { InlineData as Media } from '../../../src/core/content/content.ts'

/** Pictures that a browser decodes without running or fetching anything. SVG is not one of them. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/i
const PICTURE_URL = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]*$/
const MOST_URL_CHARACTERS = 5_000_000

/** May the page show this address as a picture? Only data of a raster picture may. */
export function isSafeImage(href: string): boolean {
  return href.length <= MOST_URL_CHARACTERS && PICTURE_URL.test(href)
}

/** How a file is shown. */
export type MediaKind = 'picture' | 'audio' | 'video' | 'text' | 'document' | 'other'

/** How a file of a media type is shown. `document` is anything a browser would run scripts of. */
export function mediaKind(mimeType: string): MediaKind {
  const type = (mimeType.split(';')[0] ?? '').trim().toLowerCase()
  if (PICTURE.test(type)) return 'picture'
  if (/^audio\//.test(type)) return 'audio'
  if (/^video\//.test(type)) return 'video'
  if (/^(?:text\/html|image\/svg|application\/xhtml|text\/xml|application\/xml)|\+xml$/.test(type)) return 'document'
  return /^text\/|^application\/(?:json|yaml|toml|javascript)$|\+json$/.test(type) ? 'text' : 'other'
}

/** The bytes of inline media. Both base64 alphabets are accepted; invalid data is empty. */
export function bytesOf({ data }: Media): Uint8Array<ArrayBuffer> {
  try {
    const text = atob(data.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
