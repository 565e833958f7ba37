/** A UUID for the key of a call. It is the same over retries and restarts, and fits the length limits of APIs. */
export async function idempotencyKeyOf(key: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)), 0, 16)
  digest[6] = ((digest[6] as number) & 0x0f) | 0x80 // version 8 (RFC 9562): the bits are chosen by the application
  digest[8] = ((digest[8] as number) & 0x3f) | 0x80
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
