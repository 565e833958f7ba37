// Arguments that are recognised by what they are: choices, numbers, dates, names, yes and no.
import { affinity } from './affinity.ts'
import { booleanFor } from './booleans.ts'
import { chosenIn } from './choices.ts'
import { converted } from './convert.ts'
import type { Declared } from './declared.ts'
import { type Filling, openOnes, type Spot } from './filling.ts'
import type { Parameter } from './parameters.ts'
import { isAfterNumber, type Placed, prepositionBefore } from './passage.ts'
import { isFor } from './roles.ts'
import { runOf } from './runs.ts'
import { areNear } from './synonyms.ts'
import { isContent, stem } from './words.ts'

export function recognise(filling: Filling): void {
  recogniseChoices(filling)
  recogniseMentions(filling)
  for (const parameter of openOnes(filling, ({ kind }) => kind === 'boolean')) {
    const said = booleanFor(parameter, filling.passage)
    if (!said) continue
    filling.values.set(parameter, said.value)
    filling.taken.take(said)
  }
}

function recogniseChoices(filling: Filling): void {
  const { passage, taken, values, also } = filling
  for (const parameter of openOnes(filling, ({ kind, item }) => kind === 'choice' || item?.kind === 'choice')) {
    const found = chosenIn(parameter.item ?? parameter, passage, taken)
    const first = parameter.item ? found[0] : likeliest(found, parameter, filling)
    if (!first) continue
    const run = runOf(first, found, passage, glueOf(filling))
    for (const one of parameter.item ? run : [first]) taken.take(one)
    values.set(parameter, parameter.item ? run.map(({ value }) => value) : first.value)
    const more = run.filter(({ start }) => start > first.start)
    if (!parameter.item && more.length) also.set(parameter, more)
  }
}

/** Where one of two could be meant, "10 km in miles", small words tell. */
function likeliest(found: readonly Spot[], parameter: Parameter, { passage, tool }: Filling): Spot | undefined {
  const rivals = tool.parameters.filter(({ kind }) => kind === 'choice')
  const score = ({ start }: Spot): number => {
    const preposition = prepositionBefore(start, passage)
    if (isFor(preposition, parameter)) return 2
    if (rivals.some((rival) => isFor(preposition, rival))) return -1
    const isFrom = isFor('from', parameter)
    return isAfterNumber(start, passage.mentions) ? (isFrom ? 1.5 : -0.5) : 0
  }
  return found.toSorted((a, b) => score(b) - score(a))[0]
}

/** The best pairs of parameter and mention first, each of them once. */
function recogniseMentions(filling: Filling): void {
  const { passage, taken, values } = filling
  for (const { parameter, mention } of pairsOf(filling)) {
    if (values.has(parameter) || !taken.isFree(mention)) continue
    const same = passage.mentions.filter(({ kind }) => kind === mention.kind)
    const run = runOf(mention, same, passage, glueOf(filling)).filter((one) => taken.isFree(one))
    assign(filling, parameter, mention, run)
  }
}

function pairsOf(filling: Filling): { parameter: Parameter; mention: Placed; score: number }[] {
  return openOnes(filling, ({ kind, item }) => kind !== 'choice' && item?.kind !== 'choice')
    .flatMap((parameter, at) =>
      filling.passage.mentions.map((mention) => {
        const score = worth(parameter, mention, filling)
        // of equals, the first in the text for the first in the schema
        return { parameter, mention, score: score && score - at / 100 - mention.start / 1e6 }
      }),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
}

function assign(filling: Filling, parameter: Parameter, mention: Placed, run: readonly Placed[]): void {
  const { passage, taken, values, also, now } = filling
  const made = (one: Placed): unknown => converted(parameter.item ?? parameter, one, passage, taken, now)
  const value = made(mention)
  if (value === undefined) return
  for (const one of parameter.item ? run : [mention]) taken.take(one)
  values.set(parameter, parameter.item ? run.map(made) : value)
  const more = run.filter(({ start }) => start > mention.start)
  if (!parameter.item && more.length)
    also.set(
      parameter,
      more.map((one) => ({ ...one, value: made(one) })),
    )
}

const LEAST = { required: 0.5, optional: 2, optionalNumber: 3.5 }

/** Zero when too little speaks for it: an optional number needs a word that says what it is. */
function worth(parameter: Parameter, mention: Placed, filling: Filling): number {
  const { tool, isTold } = filling
  const single = parameter.item ?? parameter
  if (mention.kind === 'name' && (isOfTool(mention, tool) || (!isTold && isMereFirstWord(mention, filling)))) return 0
  const isLoose = single.kind === 'number' && !isCount(single)
  const least = parameter.isRequired ? LEAST.required : isLoose ? LEAST.optionalNumber : LEAST.optional
  const score = affinity(single, mention, tool.parameters)
  return score < least ? 0 : score + (parameter.isRequired ? 0.25 : 0)
}

const counts = new Set('limit count max maximum quantity amount number size top'.split(' ').map(stem))

const isCount = ({ words }: Parameter): boolean => words.some((word) => counts.has(word))

/** "Weather" in capitals, or at the start of a message, names the tool and nobody else. */
function isOfTool({ value, start }: Placed, { nameStems, weights }: Declared): boolean {
  const isOne = (word: string): boolean => (start === 0 ? weights.has(stem(word)) : nameStems.has(stem(word)))
  return String(value).split(' ').every(isOne)
}

/** "Sing something": the first word of a sentence is a name only when it stands alone, or what follows says so. */
function isMereFirstWord({ value, start, end, after }: Placed, { passage: { text }, tool }: Filling): boolean {
  const isFirst = !String(value).includes(' ') && /^$|[.!?\n]\s*$/.test(text.slice(0, start).trimStart())
  const [next] = after
  if (!isFirst || !next || !/^\s/.test(text.slice(end))) return false
  return isContent(next) && !tool.weights.has(next.stem)
}

/** Words that may stand between the values of a list: "the kitchen light and the bedroom light". */
function glueOf({ tool }: Filling): (stem: string) => boolean {
  return (stem) => [...tool.nameStems].some((word) => areNear(word, stem))
}
