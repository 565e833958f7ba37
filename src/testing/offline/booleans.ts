import type { Spot } from './filling.ts'
import type { Parameter } from './parameters.ts'
import type { Passage } from './passage.ts'
import { stemsOf, type Token } from './words.ts'

/** Words that say yes and no by themselves, and the parameters they are about. */
const switches = [
  {
    about: stemsOf('on enabled enable active power powered state running'),
    yes: stemsOf('on enable activate start dim brighten brighter bright'),
    no: stemsOf('off disable deactivate stop'),
  },
  { about: stemsOf('locked lock'), yes: stemsOf('lock'), no: stemsOf('unlock') },
  { about: stemsOf('open opened'), yes: stemsOf('open'), no: stemsOf('close shut') },
  { about: stemsOf('muted mute'), yes: stemsOf('mute silence'), no: stemsOf('unmute') },
  {
    about: stemsOf('done completed complete finished'),
    yes: stemsOf('done complete finish'),
    no: stemsOf('reopen incomplete'),
  },
]
const negations = new Set(['no', 'not', 'without', 'never', 'dont', 'skip', 'isnt', 'shouldnt', 'wont'])
const fillers = stemsOf(
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
