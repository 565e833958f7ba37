/**
 * The hash of a text: 106 bits, for changes and damage. It is no proof against forgery, which the owner of the folder could do anyway.
 * Loading node:crypto takes longer than everything else that a cached result needs.
 */
export function hashOf(text: string): string {
  // both halves in one pass, which takes half of the time
  let [a, b] = [0xdeadbeef ^ FIRST_SEED, 0x41c6ce57 ^ FIRST_SEED]
  let [c, d] = [0xdeadbeef ^ SECOND_SEED, 0x41c6ce57 ^ SECOND_SEED]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
    c = Math.imul(c ^ code, 0x9e3779b1)
    d = Math.imul(d ^ code, 0x5f356495)
  }
  return halfHash(a, b) + halfHash(c, d)
}

const FIRST_SEED = 0x9e3779b9
const SECOND_SEED = 0x85ebca6b

function halfHash(first: number, second: number): string {
  let [high, low] = [first, second]
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16).padStart(14, '0')
}
