// Texts that a passage marks: by the name of the parameter, by a word such as "about" or "saying", by a colon.
import type { Filling } from './filling.ts'
import { type Span, trimmed } from './left-over.ts'
import type { Parameter } from './parameters.ts'
import { cuesFor, isBody } from './text-kinds.ts'
import { determiners, isContent, type Token } from './words.ts'

/** The text that stands behind a word which announces it. */
export function announced(parameter: Parameter, filling: Filling): Span | undefined {
  const { passage, taken, tool } = filling
  const cues = cuesFor(parameter)
  for (const [at, token] of passage.tokens.entries()) {
    const next = passage.tokens[at + 1]
    if (!next || !taken.isFree(token)) continue
    if (cues.includes(token.lower) || isIntroduced(parameter, at, filling)) {
      const span = textFrom(/^(?:is|as|of)$/.test(next.lower) ? at + 2 : at + 1, parameter, filling)
      if (span) return span
    } else if (isCalled(parameter, at, filling)) {
      const [name] = passage.mentions.filter(
        ({ kind, start }) => /name|quoted/.test(kind) && start <= next.start && next.start - start < 2,
      )
      if (taken.isFree(name ?? next) && !tool.nameStems.has(next.stem)) return name ?? next
    }
  }
  return undefined
}

/** "subject: Lunch", "with the title Lunch". A bare "message Bob" names the tool, not the parameter. */
function isIntroduced({ words }: Parameter, at: number, { passage: { tokens, text } }: Filling): boolean {
  const token = tokens[at]
  if (!token || !words.includes(token.stem)) return false
  if (/^\s?[:=]/.test(text.slice(token.end, token.end + 2)) || tokens[at + 1]?.lower === 'is') return true
  return at > 1 && tokens.slice(at - 2, at).some(({ lower }) => lower === 'with' || lower === 'and')
}

/** "the letter r" */
function isCalled({ words }: Parameter, at: number, { passage: { tokens } }: Filling): boolean {
  const [before, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]]
  if (!token || !next || before?.lower !== 'the' || !words.includes(token.stem)) return false
  return isContent(next) && next.start - token.end < 3
}

/** To where the text ends: a quote at its end, a letter's body at the end of the sentence, others at a comma. */
function textFrom(from: number, parameter: Parameter, filling: Filling): Span | undefined {
  const { passage, taken, tool } = filling
  const { tokens, text, mentions } = passage
  const first = tokens[from]
  if (!first) return undefined
  const quoted = mentions.find(({ kind, start, end }) => kind === 'quoted' && start <= first.start && first.end <= end)
  if (quoted) return taken.isFree(quoted) ? quoted : undefined
  const words: Token[] = []
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const between = text.slice(tokens[at - 1]?.end, token.start)
    if (!taken.isFree(token) || (at > from && endsAt(at, between, parameter, filling))) break
    words.push(token)
  }
  if (!isBody(parameter)) return trimmed(words, (stem) => tool.weights.has(stem))
  const { end } = trimmed(words, () => false) ?? {}
  return end === undefined ? undefined : { start: first.start, end }
}

const others = new Set(['saying', 'says', 'with', 'titled', 'called', 'named', 'because'])

function endsAt(at: number, between: string, parameter: Parameter, filling: Filling): boolean {
  if (/[.;!?\n:]/.test(between) || opensAnother(at, filling)) return true
  const { lower = '' } = filling.passage.tokens[at] ?? {}
  return !isBody(parameter) && (between.includes(',') || others.has(lower))
}

/** "and body ...", "with subject ..." */
function opensAnother(at: number, { passage: { tokens }, tool }: Filling): boolean {
  if (!/^(?:and|with)$/.test(tokens[at]?.lower ?? '')) return false
  const next = tokens.slice(at + 1, at + 3).find(({ lower }) => !determiners.has(lower))
  return next !== undefined && tool.parameters.some(({ words }) => words.includes(next.stem))
}

/** What follows a colon, to the end. */
export function afterColon({ passage: { text, mentions }, taken }: Filling): Span | undefined {
  const solid = mentions.filter(({ kind }) => kind !== 'phrase')
  for (const { 0: colon, index } of text.matchAll(/:\s+(?=\S)/g)) {
    if (solid.some(({ start, end }) => start <= index && index < end)) continue
    const span = { start: index + colon.length, end: text.trimEnd().length }
    return taken.isFree(span) ? span : undefined
  }
  return undefined
}
