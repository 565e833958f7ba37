/** Up to three names that resemble `name`, the most similar first, for "Did you mean ...?". */
export function closestNames(name: string, candidates: readonly string[]): string[] {
  const target = simplify(name).slice(0, MAX_LENGTH)
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(target, simplify(candidate)) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate)
  // One name contains the other: "beforeToolCallback" and "beforeTool".
  const found = near.length ? near : candidates.filter((candidate) => isPart(target, simplify(candidate)))
  return found.slice(0, 3)
}

/** Is `name` most likely a misspelling of `expected`? Stricter than `closestNames`. */
export function isMisspelling(name: string, expected: string): boolean {
  const limit = Math.min(3, Math.max(1, Math.floor(expected.length / 4)))
  return editDistance(simplify(name).slice(0, MAX_LENGTH), simplify(expected)) <= limit
}

/** The number of characters that are compared: models and clients send names of any length. */
const MAX_LENGTH = 64

/** The shortest text that counts as a part of another name. Shorter texts occur in too many names. */
const MIN_PART = 5

function simplify(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Does one of the texts contain the other? */
function isPart(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < MIN_PART) return false
  return a.includes(b) || b.includes(a)
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, swap))
    }
    row = next
  }
  return row[b.length] as number
}
