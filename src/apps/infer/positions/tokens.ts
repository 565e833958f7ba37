// The words and signs of a source text, without comments, strings and types being understood. Fast, and good enough to look for names.

/** A word, a string (without its content) or a sign. */
export interface Token {
  /** The word, the sign, `''` for a string, `0` for a number. */
  readonly text: string
  /** The content of a string. */
  readonly content?: string
  /** The open bracket around the token: `[`, `(` or `{`. Undefined at the top. */
  readonly inside: string | undefined
  /** Whether the token is a `[` that may start a list of tools, instead of `items[0]`, `string[]` or `subAgents: [a]`. */
  readonly isList?: boolean
}

const TOKEN =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|(['"])((?:\\[\s\S]|(?!\1)[^\\\n])*)\1|[\p{ID_Start}$_#][\p{ID_Continue}$]*|\d[\w.]*|=>|\.\.\.|\?\.|[\s\S]/uy
const REGULAR_EXPRESSION = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/[a-z]*/y

/** Splits a source text. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  const open: { sign: string; isList: boolean }[] = []
  let at = 0
  while (at < text.length) {
    TOKEN.lastIndex = at
    const [part = '', quote, content] = TOKEN.exec(text) ?? []
    const before = tokens.at(-1)?.text ?? ''
    const isValue =
      /[\p{ID_Continue}$)\]}]$/u.test(before) && !/^(?:return|typeof|case|in|of|await|yield)$/.test(before)
    if (part === '/' && !isValue) {
      REGULAR_EXPRESSION.lastIndex = at
      at += REGULAR_EXPRESSION.exec(text)?.[0].length ?? 1
      continue
    }
    if (part === '`') {
      at = endOfTemplate(text, at + 1)
      tokens.push({ text: "''", inside: surrounding(open) })
      continue
    }
    at += part.length
    if (/^(?:\s|\/[/*])/.test(part)) continue
    if (/^[)\]}]$/.test(part)) open.pop()
    const inside = surrounding(open)
    if (quote !== undefined) tokens.push({ text: "''", content: content ?? '', inside })
    else {
      const isList = part === '[' && !isValue && !isOtherProperty(tokens)
      tokens.push({ text: /^\d/.test(part) ? '0' : part, inside, ...(isList && { isList }) })
      if (/^[([{]$/.test(part)) open.push({ sign: part, isList })
    }
  }
  return tokens
}

/** Whether the next token is the value of a property that is not called `tools`: `subAgents: [a, b]`. */
function isOtherProperty(tokens: readonly Token[]): boolean {
  const [before, key, colon] = tokens.slice(-3)
  return colon?.text === ':' && /^[{,]$/.test(before?.text ?? '') && key?.text !== 'tools' && key?.content !== 'tools'
}

/** `list` inside of a list, so that `items[name]` is no item. */
function surrounding(open: readonly { sign: string; isList: boolean }[]): string | undefined {
  const last = open.at(-1)
  return last?.isList ? 'list' : last?.sign
}

/** The position after a template literal. */
function endOfTemplate(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (sign === '\\') at++
    else if (depth === 0 && sign === '`') return at + 1
    else if (depth === 0 && sign === '$' && text[at + 1] === '{') {
      depth = 1
      at++
    } else if (depth > 0 && sign === '`') at = endOfTemplate(text, at + 1) - 1
    else if (depth > 0 && sign === '{') depth++
    else if (depth > 0 && sign === '}') depth--
  }
  return text.length
}
