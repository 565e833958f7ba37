/** Detects the MIME type from the first bytes. The file name only chooses between kinds of text: code may lie in a name. */
export function detectMimeType(name: string, bytes: Uint8Array): string {
  const signature = signatures.find(([prefix]) => prefix.every((byte, at) => byte === -1 || bytes[at] === byte))
  if (signature) return signature[1]
  if (!isText(bytes)) return 'application/octet-stream'
  return textTypes.get(/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '') ?? 'text/plain'
}

/** The first bytes of each format; -1 matches any byte. */
const signatures: readonly (readonly [readonly number[], string])[] = [
  [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 'image/png'],
  [[0xff, 0xd8, 0xff], 'image/jpeg'],
  [[0x47, 0x49, 0x46, 0x38], 'image/gif'],
  [[0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x45, 0x42, 0x50], 'image/webp'],
  [[0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x41, 0x56, 0x45], 'audio/wav'],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], 'application/pdf'],
  [[0x50, 0x4b, 0x03, 0x04], 'application/zip'],
  [[0x1f, 0x8b], 'application/gzip'],
]

/** MIME types of text files by file extension. */
const textTypes: ReadonlyMap<string, string> = new Map([
  ['csv', 'text/csv'],
  ['css', 'text/css'],
  ['htm', 'text/html'],
  ['html', 'text/html'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['md', 'text/markdown'],
  ['svg', 'image/svg+xml'],
  ['xml', 'application/xml'],
])

function isText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0')
  } catch {
    return false
  }
}
