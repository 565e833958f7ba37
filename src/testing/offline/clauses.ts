// A message in the pieces that could each ask for something.
import type { Mention } from './mention.ts'
import { determiners, type Token } from './words.ts'

const MAX_CLAUSES = 12
const joining = new Set(['and', 'then', 'also', 'plus', 'afterwards', 'next'])
const polite = new Set(['please', 'can', 'could', 'you', 'also', 'just'])
const questions = new Set(
  "what whats what’s what's how where who when which is are will does do tell show give".split(' '),
)

/** What can begin a command. */
export interface Commands {
  /** The first word of a tool's name: `send` of `send_email`. */
  isVerb(token: Token): boolean
  /** Any word of one: "email them". */
  isOfTool(token: Token): boolean
}

/** Cut at the end of sentences, and before a command or a question that follows "and", "then" or a comma. */
export function clausesOf(
  text: string,
  tokens: readonly Token[],
  mentions: readonly Mention[],
  commands: Commands,
): string[] {
  const whole = mentions.filter(({ kind }) => kind === 'quoted' || kind === 'name' || kind === 'path' || kind === 'url')
  const isInside = (at: number): boolean => whole.some(({ start, end }) => start < at && at < end)
  const cuts: number[] = []
  for (let at = 1; at < tokens.length && cuts.length < MAX_CLAUSES - 1; at++) {
    const token = tokens[at] as Token
    const between = text.slice(tokens[at - 1]?.end, token.start)
    if (isInside(token.start)) continue
    if (/[.?!;]["')]*\s|\n/.test(between)) cuts.push(token.start)
    else if (joining.has(token.lower) || between.includes(',')) {
      let next = at
      while (joining.has(tokens[next]?.lower ?? '') || polite.has(tokens[next]?.lower ?? '')) next++
      if (opens(next, tokens, commands)) cuts.push(token.start)
    }
  }
  const starts = [0, ...cuts]
  return starts.map((start, at) => text.slice(start, starts[at + 1]).trim()).filter(Boolean)
}

const objects = new Set([...determiners, 'it', 'them', 'me', 'him', 'her', 'us'])

function opens(at: number, tokens: readonly Token[], { isVerb, isOfTool }: Commands): boolean {
  const [token, next] = [tokens[at], tokens[at + 1]]
  if (!token) return false
  return questions.has(token.lower) || isVerb(token) || (isOfTool(token) && objects.has(next?.lower ?? ''))
}
