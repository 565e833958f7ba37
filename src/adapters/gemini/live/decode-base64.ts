const VALUES = new Uint8Array(128).fill(255)
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  VALUES[character.charCodeAt(0)] = value
VALUES['-'.charCodeAt(0)] = 62
VALUES['_'.charCodeAt(0)] = 63

/** Decodes base64, also the URL-safe alphabet. Undefined if the text has any other character. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const end = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length
  const bytes = new Uint8Array(Math.floor((end * 3) / 4))
  let group = 0
  let bits = 0
  let to = 0
  for (let at = 0; at < end; at++) {
    const value = VALUES[text.charCodeAt(at)] ?? 255
    if (value === 255) return undefined
    group = (group << 6) | value
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[to++] = (group >> bits) & 255
  }
  return bytes
}
