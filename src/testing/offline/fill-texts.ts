// The parameters that take any text, after all the others have taken what is theirs.
import { afterColon, announced } from './announced.ts'
import { type Filling, openOnes } from './filling.ts'
import { itemsIn, leftOver, type Span } from './left-over.ts'
import type { Parameter } from './parameters.ts'
import { isBody, isThing, isTitle, titleOf } from './text-kinds.ts'

/** What the passage marks as a text. */
export function fillMarked(filling: Filling): void {
  for (const parameter of texts(filling)) {
    const span = announced(parameter, filling)
    if (span) set(filling, parameter, span)
  }
  fillQuoted(filling)
  const colon = afterColon(filling)
  if (colon) setFirst(filling, colon, isBody)
}

/** What is left when everything else has its value. */
export function fillLeftOver(filling: Filling): void {
  const { tool, values, passage } = filling
  // an agent that is asked as a tool hears all of it
  for (const parameter of openOnes(filling, ({ kind, isRequired }) => kind === 'request' && isRequired))
    values.set(parameter, passage.text.trim())
  deriveTitles(filling)
  const rest = leftOver(filling, [...tool.nameStems, ...tool.parameters.flatMap(({ words }) => words)])
  if (rest) setFirst(filling, rest, (parameter) => !isTitle(parameter))
  deriveTitles(filling)
}

/** Quotes in their order, to what must be there before what may be. */
function fillQuoted(filling: Filling): void {
  const quoted = filling.passage.mentions.filter((one) => one.kind === 'quoted' && filling.taken.isFree(one))
  const waiting = texts(filling).sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
  for (const parameter of waiting) {
    const own = parameter.kind === 'list' ? quoted.splice(0) : quoted.splice(0, 1)
    if (own.length === 0) return
    for (const one of own) filling.taken.take(one)
    filling.values.set(parameter, parameter.kind === 'list' ? own.map(({ value }) => value) : own[0]?.value)
  }
}

/** To one parameter that must be there; `prefers` says to which rather. */
function setFirst(filling: Filling, span: Span, prefers: (parameter: Parameter) => boolean): void {
  const needed = texts(filling).filter(({ isRequired }) => isRequired)
  const parameter = needed.find(prefers) ?? needed[0]
  if (parameter && filling.taken.isFree(span)) set(filling, parameter, span)
}

function deriveTitles(filling: Filling): void {
  const body = filling.tool.parameters.find((parameter) => isBody(parameter) && filling.values.has(parameter))
  const text = body && filling.values.get(body)
  if (typeof text !== 'string') return
  for (const parameter of texts(filling).filter((one) => one.isRequired && isTitle(one))) {
    filling.values.set(parameter, titleOf(text))
  }
}

function texts(filling: Filling): Parameter[] {
  return openOnes(filling, ({ kind, item }) => isText(kind) || (item !== undefined && isText(item.kind)))
}

const isText = (kind: string): boolean => kind === 'text' || kind === 'name'

function set({ passage, taken, values, also }: Filling, parameter: Parameter, span: Span): void {
  const text = passage.text.slice(span.start, span.end).replace(/^["'“‘«`]([\s\S]*)["'”’»`]$/, '$1')
  taken.take(span)
  const isList = parameter.kind === 'list'
  const [first, ...more] = isList || isThing(parameter) ? itemsIn(text) : [text]
  if (first === undefined) return
  values.set(parameter, isList ? [first, ...more] : first)
  // they have no place of their own: no other parameter has a claim on them
  const spots = more.map((value) => ({ value, start: 0, end: 0 }))
  if (!isList && spots.length) also.set(parameter, spots)
}
