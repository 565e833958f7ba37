// Words as the offline model compares them: split, cut down to their stems, without those that say nothing.

export interface Token {
  readonly text: string
  readonly lower: string
  readonly stem: string
  readonly start: number
  readonly end: number
}

/** The words of a text and where they stand. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)) {
    tokens.push({ text: word, lower: word.toLowerCase(), stem: stem(word), start: index, end: index + word.length })
  }
  return tokens
}

/** The words of a name: `getWeather`, `get_weather` and `get-weather` have the same. */
export function nameWords(name: string): string[] {
  return name
    .slice(0, 200)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map((word) => word.toLowerCase())
}

/** What is left of a word when its endings are taken off, so that `charged`, `charges` and `charge` are one. */
export function stem(word: string): string {
  const plain = word
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/['’]s?$/, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
  if (plain.length <= 3) return plain
  const singular = withoutPlural(plain)
  return singular.length <= 3 ? singular : withoutSuffix(withoutTense(singular))
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(?:ch|sh|x|z|ss)es$/.test(word)) return word.slice(0, -2)
  return /[^siu]s$/.test(word) ? word.slice(0, -1) : word
}

function withoutTense(word: string): string {
  const [, bare] = /^(.{3,})(?:ing|ed)$/.exec(word) ?? []
  if (bare === undefined || !/[aeiouy]/.test(bare)) return word
  const isDoubled = bare.length > 3 && bare.at(-1) === bare.at(-2)
  return isDoubled && !(bare.length === 4 && /[lsz]$/.test(bare)) ? bare.slice(0, -1) : bare
}

function withoutSuffix(word: string): string {
  const [, long] = /^(.{4,})(?:ation|ator|ate)$/.exec(word) ?? []
  if (long !== undefined) return long
  const [, bare] = /^(.{3,}[st])(?:ion|or)$/.exec(word) ?? /^(.{3,})ment$/.exec(word) ?? []
  if (bare !== undefined) return bare
  return word.replace(/y$/, 'i').replace(/(?<=.{3})e$/, '')
}

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

export const determiners: ReadonlySet<string> = list(
  'a an the my your our his her their its this that these those some',
)

export const prepositions: ReadonlySet<string> = list(
  'in at on to into from for of with by about near around until till onto regarding per via within inside as under over below above before after between during than',
)

/** Words that hold sentences together, or that every request has: they say nothing about what is wanted. */
export const stopWords: ReadonlySet<string> = new Set([
  ...determiners,
  ...prepositions,
  ...list(`
    i me we us you he she it they them him im ill id ive youre its lets whats wheres hows whos thats theres dont
    am is are was were be been being do does did done doing have has had will would shall should can could may might must
    what whats how where when why who whom whose which if whether
    and or but so then than also too just not no yes yeah ok okay only still again now here there any all both each every
    please thanks thank hello hi hey bye goodbye dear kindly sorry
    get gets give tell show let want wants need needs like know see say much many more most lot one ones thing things
    current currently given specified certain possible possibly return returns tool function value values string
    use used using e g i.e e.g etc optional required default
  `),
])

/** A list of words, as their stems. */
export function stemsOf(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/).map(stem))
}

/** Has the word a meaning of its own? */
export function isContent({ lower, stem }: { readonly lower: string; readonly stem: string }): boolean {
  return stem !== '' && !stopWords.has(lower) && !stopWords.has(lower.replaceAll(/['’]/g, ''))
}

/** The stems of a text's meaningful words, each once. */
export function contentStems(text: string): Set<string> {
  return new Set(
    tokensOf(text)
      .filter(isContent)
      .map(({ stem }) => stem),
  )
}

/** At most one letter more, less, other or swapped; of long words two. */
export function isCloseSpelling(a: string, b: string): boolean {
  if (a === b) return true
  const longest = Math.max(a.length, b.length)
  if (longest < 5 || longest > 40 || a[0] !== b[0] || Math.abs(a.length - b.length) > 2) return false
  return distance(a, b) <= (longest >= 9 ? 2 : 1)
}

function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + change)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
