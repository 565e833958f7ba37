import type { Spot } from './filling.ts'
import type { Parameter } from './parameters.ts'
import type { Passage } from './passage.ts'
import { stem, type Token } from './words.ts'

const stems = (words: string): ReadonlySet<string> => new Set(words.split(' ').map(stem))

/** Words that say yes and no by themselves, and the parameters they are about. */
const switches = [
  {
    about: stems('on enabled enable active power powered state running'),
    yes: stems('on enable activate start dim brighten brighter bright'),
    no: stems('off disable deactivate stop'),
  },
  { about: stems('locked lock'), yes: stems('lock'), no: stems('unlock') },
  { about: stems('open opened'), yes: stems('open'), no: stems('close shut') },
  { about: stems('muted mute'), yes: stems('mute silence'), no: stems('unmute') },
  {
    about: stems('done completed complete finished'),
    yes: stems('done complete finish'),
    no: stems('reopen incomplete'),
  },
]
const negations = new Set(['no', 'not', 'without', 'never', 'dont', 'skip', 'isnt', 'shouldnt', 'wont'])
const fillers = stems(
  'is has should with include includes including send use want wants needs enable allow as make be do get a',
)

/** Whether the passage says yes or no to it, and where; undefined when it does not speak of it. */
export function booleanFor({ words }: Parameter, { tokens }: Passage): Spot | undefined {
  for (const { about, yes, no } of switches) {
    if (!words.some((word) => about.has(word))) continue
    const at = tokens.findIndex(({ stem }) => yes.has(stem) || no.has(stem))
    if (at >= 0) return answer(at, at, yes.has(tokens[at]?.stem ?? ''), tokens)
  }
  const found = words.filter((word) => !fillers.has(word)).map((word) => tokens.findIndex(({ stem }) => stem === word))
  if (found.length === 0 || found.includes(-1)) return undefined
  return answer(Math.min(...found), Math.max(...found), true, tokens)
}

/** The words from one token to another, a "not" or "without" shortly before them included. */
function answer(from: number, to: number, says: boolean, tokens: Passage['tokens']): Spot {
  const isNegation = ({ lower }: Token): boolean => negations.has(lower.replaceAll(/['’]/g, ''))
  const not = tokens.findIndex((token, at) => at < from && at >= from - 3 && isNegation(token))
  const value = not < 0 ? says : !says
  return { value, start: tokens[not < 0 ? from : not]?.start ?? 0, end: tokens[to]?.end ?? 0 }
}
