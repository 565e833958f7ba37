/** Is it a media type of JSON? */
export function isJsonType(mediaType: string): boolean {
  return /^(?:application|text)\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(mediaType)
}

/** The value of a parameter with `content`, as text: JSON, or the text itself. Undefined for null and no value. */
export function contentText(value: unknown, contentType: string): string | undefined {
  if (value === undefined || (value === null && !isJsonType(contentType))) return undefined
  return typeof value === 'string' && !isJsonType(contentType) ? value : JSON.stringify(value)
}
