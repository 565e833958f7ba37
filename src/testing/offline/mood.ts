// Questions ask for tools that look, commands for tools that act.
import type { Passage } from './passage.ts'
import { areNear } from './synonyms.ts'
import { acting, destroying, looking } from './verbs.ts'
import { nameWords, stem, type Token } from './words.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const wondering = words("is are was were am did does has have when where who why when's where's who's")
const asking = words("what what's whats which how how's do will any show list tell give")
const polite = words(
  "please can could would you kindly hey hi hello and i id i’d i'd like want to need now then also ok okay",
)

/** May the tool be called for this at all? A question changes nothing, and what cannot be undone is called by its name. */
export function isAllowed(name: string, { tokens }: Passage): boolean {
  const own = nameWords(name).map(stem)
  if (acting.has(own[0] ?? '') && wondering.has(firstOf(tokens)?.lower ?? '')) return false
  const destroys = own.find((word) => destroying.has(word))
  return destroys === undefined || tokens.some((token) => areNear(destroys, token.stem))
}

/** More when the tool does what the passage sounds like, less when it does the other thing. */
export function moodFor(name: string, { tokens }: Passage): number {
  const verb = stem(nameWords(name)[0] ?? '')
  const first = firstOf(tokens)
  if (!first) return 0
  if (asking.has(first.lower) || wondering.has(first.lower)) return looking.has(verb) ? 0.5 : acting.has(verb) ? -1 : 0
  if (areNear(verb, first.stem)) return 0.5
  return acting.has(first.stem) && looking.has(verb) ? -1 : 0
}

function firstOf(tokens: readonly Token[]): Token | undefined {
  return tokens.find(({ lower }) => !polite.has(lower))
}
