// Which of the values a schema lists is meant.
import { languageCode } from './lexicon.ts'
import type { Parameter } from './parameters.ts'
import type { Passage, Taken } from './passage.ts'
import { isCloseSpelling, nameWords, stem, type Token } from './words.ts'

export interface Chosen {
  readonly value: unknown
  readonly start: number
  readonly end: number
}

/** What people say for values programs use. */
const alsoSaid: ReadonlyMap<string, string> = new Map(
  Object.entries({
    times: 'multiply',
    multiplied: 'multiply',
    product: 'multiply',
    plus: 'add',
    sum: 'add',
    minus: 'subtract',
    less: 'subtract',
    difference: 'subtract',
    divided: 'divide',
    quotient: 'divide',
    asap: 'urgent',
    important: 'high',
    centigrade: 'celsius',
    c: 'celsius',
    f: 'fahrenheit',
    big: 'large',
    little: 'small',
    medium: 'normal',
    activate: 'on',
    enable: 'on',
    deactivate: 'off',
    disable: 'off',
    warm: 'heat',
  }).map(([said, meant]) => [stem(said), stem(meant)]),
)

const operators: ReadonlyMap<string, string> = new Map([
  ['+', 'add'],
  ['-', 'subtract'],
  ['*', 'multiply'],
  ['×', 'multiply'],
  ['/', 'divide'],
  ['÷', 'divide'],
])

/** Every choice of the parameter that the passage names, in its order: as it is written, else nearly so. */
export function chosenIn({ choices }: Parameter, passage: Passage, taken: Taken): Chosen[] {
  const ways = [named, spokenOf, misspelled]
  for (const way of ways) {
    const found = choices.flatMap((value) => way(value, passage)).filter((one) => taken.isFree(one))
    if (found.length) return inOrder(found)
  }
  return []
}

function named(value: unknown, { tokens, mentions }: Passage): Chosen[] {
  if (typeof value === 'number') return mentions.filter((one) => one.value === value).map((one) => ({ ...one, value }))
  if (typeof value !== 'string') return []
  const direct = mentions.filter(({ kind, value: said }) => kind !== 'phrase' && stands(value, String(said)))
  return [...sequences(nameWords(value).map(stem), value, tokens), ...direct.map((one) => ({ ...one, value }))]
}

/** `EUR` is mentioned by "euros", `fr` by "French". */
function stands(value: string, said: string): boolean {
  const lower = value.toLowerCase()
  return said.toLowerCase() === lower || (languageCode(said) === lower && lower.length === 2)
}

function spokenOf(value: unknown, { tokens, mentions, text }: Passage): Chosen[] {
  if (typeof value !== 'string') return []
  const wanted = nameWords(value).map(stem).join('')
  const said = tokens.filter((token) => alsoSaid.get(token.stem) === wanted || initialOf(value, token))
  const sums = mentions.filter(({ kind }) => kind === 'expression')
  const signs = sums.flatMap(({ start, end }) =>
    [...text.slice(start, end).matchAll(/[-+*×/÷]/g)]
      .filter(({ 0: sign, index }) => index > 0 && stem(operators.get(sign) ?? '') === wanted)
      .map(({ index }) => ({ start: start + index, end: start + index + 1 })),
  )
  return [...said, ...signs].map(({ start, end }) => ({ value, start, end }))
}

/** `C` and `F` are degrees. */
function initialOf(value: string, { lower }: Token): boolean {
  return (value === 'C' && lower === 'celsius') || (value === 'F' && lower === 'fahrenheit')
}

const MAX_SPELLED = 100

function misspelled(value: unknown, { tokens }: Passage): Chosen[] {
  if (typeof value !== 'string') return []
  const wanted = nameWords(value).join('')
  return tokens
    .slice(0, MAX_SPELLED)
    .filter(({ lower }) => isCloseSpelling(lower, wanted))
    .map(({ start, end }) => ({ value, start, end }))
}

/** Where the words stand one after the other, or written together. */
function sequences(words: readonly string[], value: unknown, tokens: readonly Token[]): Chosen[] {
  const found: Chosen[] = []
  if (words.length === 0) return found
  for (const [at, { start, end, stem }] of tokens.entries()) {
    const last = tokens[at + words.length - 1]
    const isWhole = words.every((word, ahead) => tokens[at + ahead]?.stem === word)
    if (last && isWhole) found.push({ value, start, end: last.end })
    else if (words.length > 1 && stem === words.join('')) found.push({ value, start, end })
  }
  return found
}

/** The longer of two that overlap, the first of two that are the same. */
function inOrder(found: readonly Chosen[]): Chosen[] {
  const longest = found.toSorted((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)
  const kept: Chosen[] = []
  for (const one of longest) {
    const isFree = kept.every(({ start, end, value }) => (one.end <= start || one.start >= end) && one.value !== value)
    if (isFree) kept.push(one)
  }
  return kept.sort((a, b) => a.start - b.start)
}
