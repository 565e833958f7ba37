import type { Mention } from './mention.ts'
import { isVerb } from './verbs.ts'
import { determiners, prepositions, stopWords, type Token, tokensOf } from './words.ts'

/** Small words inside names: Rio de Janeiro, Bank of Norway. */
const particles = new Set('de da do del della di la le el van von der den of the und'.split(' '))
const joins = /^[ \t\u00a0]+$/
const title = /^(?:mr|mrs|ms|dr|st|prof)$/i

/** Capitalised words that stand together. Small words are never names, wherever they stand. */
export function namesIn(text: string): Mention[] {
  const tokens = tokensOf(text)
  const found: Mention[] = []
  for (let at = 0; at < tokens.length; at++) {
    if (!isCapitalised(tokens[at]) || isCommand(at, tokens, text)) continue
    let last = at
    for (let next = at + 1; next < tokens.length && isJoined(text, tokens[next - 1], tokens[next]); next++) {
      if (isCapitalised(tokens[next])) last = next
      else if (!particles.has(tokens[next]?.lower ?? '') || next - last > 2) break
    }
    const start = tokens[at]?.start ?? 0
    if (isState(text, tokens[last], tokens[last + 1])) last++
    const end = tokens[last]?.end ?? 0
    const whole = text.slice(start, end)
    const isHouse = tokens[at - 1]?.lower === 'at' // "at Luigi's"
    found.push({ kind: 'name', value: isHouse ? whole : whole.replace(/['’]s$/, ''), start, end })
    at = last
  }
  return found
}

/**
 * What follows a preposition up to the next one, in small letters too: "from checking", "in the kitchen", "in oslo and
 * lima". It ends where something else was `taken`.
 */
export function phrasesIn(text: string, taken: Uint8Array): Mention[] {
  const tokens = tokensOf(text)
  const found: Mention[] = []
  for (let at = 0; at < tokens.length; at++) {
    if (!prepositions.has(tokens[at]?.lower ?? '')) continue
    let next = at + 1
    for (let isFirst = true; ; isFirst = false) {
      const phrase = phraseAt(text, tokens, next, taken)
      if (!phrase || (!isFirst && phrase.last > next + 1)) break
      const { start, end } = phrase
      found.push({ kind: 'phrase', value: text.slice(start, end).replace(/['’]s$/, ''), start, end })
      next = phrase.last + 1
      if (tokens[next]?.lower === 'and') next++
      else if (!/^,\s*$/.test(text.slice(end, tokens[next]?.start))) break
    }
  }
  return found
}

function phraseAt(
  text: string,
  tokens: readonly Token[],
  from: number,
  taken: Uint8Array,
): { start: number; end: number; last: number } | undefined {
  let first = from
  while (determiners.has(tokens[first]?.lower ?? '')) first++
  let last = first - 1
  for (let at = first; at < first + 4 && isPhraseWord(tokens[at], taken); at++) {
    if (at > first && !isJoined(text, tokens[at - 1], tokens[at])) break
    last = at
  }
  const [start, end] = [tokens[first]?.start, tokens[last]?.end]
  return last < first || start === undefined || end === undefined ? undefined : { start, end, last }
}

function isPhraseWord(token: Token | undefined, taken: Uint8Array): boolean {
  return token !== undefined && !stopWords.has(token.lower) && !taken[token.start]
}

/** "San Francisco, CA" */
function isState(text: string, before: Token | undefined, token: Token | undefined): boolean {
  return token !== undefined && /^[A-Z]{2}$/.test(token.text) && text.slice(before?.end, token.start) === ', '
}

/** "Pay Alice": the first word of a sentence is written large, whatever it is. */
function isCommand(at: number, tokens: readonly Token[], text: string): boolean {
  const [before, token] = [tokens[at - 1], tokens[at]]
  const isFirst = !before || /[.!?\n]/.test(text.slice(before.end, token?.start))
  return isFirst && token !== undefined && isVerb(token.stem)
}

function isCapitalised(token: Token | undefined): boolean {
  return token !== undefined && /^\p{Lu}/u.test(token.text) && !stopWords.has(token.lower.replace(/['’].*$/, ''))
}

function isJoined(text: string, before: Token | undefined, token: Token | undefined): boolean {
  const between = text.slice(before?.end, token?.start)
  return joins.test(between) || (between === '. ' && title.test(before?.text ?? ''))
}
