const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const LENGTH = 26 // characters of five bits each
const pool = new Uint8Array(LENGTH * 100)
const codes = new Array<number>(LENGTH).fill(0)
let used = pool.length

/** A random id of 130 bits. It takes half the memory of a UUID, which matters for thousands of concurrent runs. */
export function newId(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  for (let i = 0; i < LENGTH; i++) codes[i] = ALPHABET.charCodeAt((pool[used++] as number) & 31)
  return String.fromCharCode(...codes)
}
