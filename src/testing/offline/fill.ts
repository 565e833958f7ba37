// The values of a tool's parameters, as far as a passage has them.
import { callsWith, missingOf, type Several, type Values } from './arguments.ts'
import { dayOf, isoDate } from './dates.ts'
import type { Declared } from './declared.ts'
import { fillLeftOver, fillMarked } from './fill-texts.ts'
import { type Filling, openOnes } from './filling.ts'
import { itemsIn, leftOver } from './left-over.ts'
import type { MentionKind } from './mention.ts'
import type { Parameter } from './parameters.ts'
import { type Passage, passageOf, Taken } from './passage.ts'
import { recognise } from './recognise.ts'

export interface Filled {
  readonly values: Values
  readonly several: Several | undefined
  readonly missing: readonly Parameter[]
  /** How many values were recognised by more than being left over. */
  readonly recognised: number
  /** How many things in the passage it has no use for. */
  readonly unused: number
}

export function fill(tool: Declared, passage: Passage, now: number): Filled {
  const filling = begun(tool, passage, now, false)
  recognise(filling)
  fillRecords(filling)
  fillMarked(filling)
  const recognised = filling.values.size
  fillLeftOver(filling)
  const several = severalOf(filling)
  const missing = missingOf(tool.parameters, filling.values)
  return { values: filling.values, several, missing, recognised, unused: unusedIn(filling, several) }
}

/** What a statement says: only what is recognised by itself, nothing that was left over. */
export function recognisedIn(tool: Declared, passage: Passage, now: number): Values {
  const filling = begun(tool, passage, now, true)
  recognise(filling)
  return filling.values
}

function begun(tool: Declared, passage: Passage, now: number, isTold: boolean): Filling {
  return { tool, passage, now, isTold, taken: new Taken(passage), values: new Map(), also: new Map() }
}

/** "2 apples and 3 pears" as a list of objects, when each of them has all it needs. */
function fillRecords(filling: Filling): void {
  const { passage, taken, values, tool, now } = filling
  for (const parameter of openOnes(filling, ({ fields }) => fields !== undefined)) {
    const span = leftOver(filling, [...tool.nameStems, ...parameter.words])
    const texts = span ? itemsIn(passage.text.slice(span.start, span.end)) : []
    const parameters = parameter.fields ?? []
    const items = texts.map((text) => fill({ ...tool, parameters }, passageOf(text, dayOf(now)), now))
    if (!span || items.length === 0 || items.some(({ missing }) => missing.length > 0)) continue
    taken.take(span)
    const records = items.flatMap((item) => callsWith(parameters, item.values, undefined))
    values.set(parameter, records)
  }
}

/** One list is read as several calls; two would be a table. */
function severalOf({ also, taken }: Filling): Several | undefined {
  for (const [parameter, spots] of also) {
    const free = spots.filter((spot) => taken.isFree(spot) && spot.value !== undefined)
    if (free.length) return { parameter, values: free.map(({ value }) => value) }
  }
  return undefined
}

const telling = new Set<MentionKind>(['url', 'email', 'path', 'id', 'date', 'datetime', 'time', 'number', 'name'])

function unusedIn({ passage, taken, now }: Filling, several: Several | undefined): number {
  const today = isoDate(now) // goes without saying
  const free = passage.mentions.filter((one) => telling.has(one.kind) && taken.isFree(one) && one.value !== today)
  return Math.max(0, free.length - (several?.values.length ?? 0))
}
