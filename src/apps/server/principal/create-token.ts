import { randomBytes } from 'node:crypto'

/** A random token for a server without `authenticate`. */
export function createToken(): string {
  return randomBytes(24).toString('base64url')
}
