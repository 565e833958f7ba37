const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const LENGTH = 26 // of five bits each: 130 bits
const pool = new Uint8Array(LENGTH * 100)
const codes = new Array<number>(LENGTH).fill(0)
let used = pool.length

/** An id nobody can guess. Half the memory of a UUID, which counts where thousands of runs are alive at once. */
export function newId(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  for (let i = 0; i < LENGTH; i++) codes[i] = ALPHABET.charCodeAt((pool[used++] as number) & 31)
  return String.fromCharCode(...codes)
}
