/** ROUGE-1: how many words two texts share, as the harmonic mean of precision and recall. From 0 to 1. */
export function rouge1(text: string, reference: string): number {
  const [words, wanted] = [countWords(text), countWords(reference)]
  const [length, wantedLength] = [sum(words), sum(wanted)]
  if (length === 0 || wantedLength === 0) return length === wantedLength ? 1 : 0
  let shared = 0
  for (const [word, count] of wanted) shared += Math.min(count, words.get(word) ?? 0)
  return (2 * shared) / (length + wantedLength)
}

/** Words in any script: runs of letters and digits. */
function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function sum(counts: ReadonlyMap<string, number>): number {
  let total = 0
  for (const count of counts.values()) total += count
  return total
}
