/** Up to three names that resemble `said`, the nearest first: for "did you mean ...?". */
export function closestNames(said: string, names: readonly string[]): string[] {
  const target = plain(said).slice(0, MAX_LENGTH)
  const near = names
    .map((name) => ({ name, distance: editDistance(target, plain(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .map(({ name }) => name)
  // a name that is part of the other one: "beforeToolCallback" for "beforeTool"
  const found = near.length ? near : names.filter((name) => contains(target, plain(name)))
  return found.slice(0, 3)
}

/** Is `said` so close to `name` that it is most likely a misspelling of it? Stricter than `closest`. */
export function isMisspelling(said: string, name: string): boolean {
  const limit = Math.min(3, Math.max(1, Math.floor(name.length / 4)))
  return editDistance(plain(said).slice(0, MAX_LENGTH), plain(name)) <= limit
}

/** Models and clients send names of any length. */
const MAX_LENGTH = 64

/** Shorter texts are part of too many names. */
const MIN_PART = 5

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function contains(a: string, b: string): boolean {
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
