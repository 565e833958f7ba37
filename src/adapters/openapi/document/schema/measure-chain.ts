import { DocumentProblem } from '../api-document.ts'
import type { Definition } from './fragment.ts'

/** The schema compiler allows 300 schemas for one value. A fragment adds at most 60 to the chain of a definition. */
const MAX_CHAIN = 230

/**
 * Checks that no reference leads back to itself for the same value, because validation would never end, and that not too
 * many schemas apply to one value. Throws `DocumentProblem`.
 */
export function measureChain(definition: Definition, open: Set<Definition> = new Set()): number {
  if (definition.chain !== undefined) return definition.chain
  if (open.has(definition))
    throw new DocumentProblem(
      `schema "${definition.name}" refers to itself for the same value, so that no value can be checked`,
    )
  if (open.size > MAX_CHAIN) throw new DocumentProblem(TOO_LONG)
  open.add(definition)
  let longest = 60
  for (const [next, offset] of definition.sameValue) longest = Math.max(longest, offset + measureChain(next, open))
  open.delete(definition)
  if (longest > MAX_CHAIN) throw new DocumentProblem(TOO_LONG)
  definition.chain = longest
  return longest
}

const TOO_LONG = `more than ${MAX_CHAIN} schemas apply to one value of its schema. Shorten the chain of references`
