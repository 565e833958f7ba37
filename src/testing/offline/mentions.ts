import { datesIn } from './dates.ts'
import { currenciesIn, languagesIn } from './lexicon.ts'
import { addressesIn, expressionsIn, idsIn, pathsIn, phonesIn, quotesIn, tagsIn } from './literals.ts'
import type { Finder, Mention } from './mention.ts'
import { namesIn, phrasesIn } from './names.ts'
import { numbersIn } from './numbers.ts'
import { momentsIn, timesIn } from './times.ts'

/** The most telling first: what one has found, those after it leave alone. */
const finders: readonly Finder[] = [
  quotesIn,
  addressesIn,
  momentsIn,
  pathsIn,
  datesIn,
  timesIn,
  idsIn,
  phonesIn,
  tagsIn,
  numbersIn,
  currenciesIn,
  languagesIn,
  namesIn,
]

/** The rest is not looked at. */
const MAX_MENTIONS = 200

/** Everything in a text that could be an argument, in the order of the text. */
export function mentionsIn(text: string, today: number): Mention[] {
  const taken = new Uint8Array(text.length)
  const found: Mention[] = []
  for (const find of finders) {
    for (const mention of find(text, today)) {
      if (taken.subarray(mention.start, mention.end).some(Boolean)) continue
      taken.fill(1, mention.start, mention.end)
      found.push(mention)
    }
  }
  found.push(...expressionsIn(text), ...phrasesIn(text, taken)) // these lie over others
  return found.sort((a, b) => a.start - b.start).slice(0, MAX_MENTIONS)
}
