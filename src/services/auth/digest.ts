/** The SHA-256 digest of strings, as hexadecimal text. The strings are joined as JSON, so no two lists share a digest. */
export async function digestOf(...values: readonly (string | undefined)[]): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(values.map((value) => value ?? null)))
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', text))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares two secrets in constant time: the time tells nothing about where they differ, or about their lengths. */
export async function isSameSecret(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([digestOf(one), digestOf(other)])
  let difference = 0
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at)
  return difference === 0
}
