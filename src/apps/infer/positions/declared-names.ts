import type { Token } from './tokens.ts'

/**
 * Where a name comes from. `unknown` may be a function, `other` is none: a written tool, an instance, a literal. `own` comes from this
 * package: what it returns is no function.
 */
type Origin =
  | { readonly type: 'unknown' }
  | { readonly type: 'list' }
  | { readonly type: 'other' }
  | { readonly type: 'own' }
  | { readonly type: 'import'; readonly from: string; readonly exported: string }

const UNKNOWN: Origin = { type: 'unknown' }
const OTHER: Origin = { type: 'other' }
const OWN: Origin = { type: 'own' }
const LIST: Origin = { type: 'list' }

/** The names that a file imports or declares. Parameters are left out: what they get is read where it comes from. */
export function declarationsOf(tokens: readonly Token[]): Map<string, Origin> {
  const names = new Map<string, Origin>()
  const add = (name: string, origin: Origin): void => {
    // a name that stands for two things, in two scopes, may be the one that is a function
    const known = names.get(name)
    if (!known || SUSPICION.indexOf(origin.type) > SUSPICION.indexOf(known.type)) names.set(name, origin)
  }
  for (const [at, { text }] of tokens.entries()) {
    const next = tokens[at + 1]?.text ?? ''
    if (text === 'import' && next !== '(' && next !== '.' && next !== 'type') addImports(tokens, at, add)
    else if (text === 'function') add(next === '*' ? (tokens[at + 2]?.text ?? '') : next, UNKNOWN)
    else if (text === 'class') add(next, UNKNOWN)
    else if (/^(?:let|var)$/.test(text))
      add(next, UNKNOWN) // may get another value later
    else if (text === 'const') addVariable(tokens, at + 1, names, add)
    else if (text === ',' && tokens[at + 2]?.text === '=') addVariable(tokens, at + 1, names, add) // const a = 1, b = 2
  }
  return names
}

/** The origins, from the least to the most likely function. */
const SUSPICION: readonly Origin['type'][] = ['other', 'own', 'list', 'import', 'unknown']

type Add = (name: string, origin: Origin) => void

/** `import a, { b, c as d, type E } from 'f'`, `import * as g from 'f'`. */
function addImports(tokens: readonly Token[], start: number, add: Add): void {
  const end = tokens.findIndex(({ content }, at) => at > start && content !== undefined)
  const from = tokens[end]?.content
  if (from === undefined || tokens[end - 1]?.text !== 'from') return
  const isOurs = from === 'toolwright' || from.startsWith('toolwright/')
  let words: string[] = []
  for (const { text } of tokens.slice(start + 1, end)) {
    if (!/^[{},]$/.test(text) && text !== 'from') words.push(text)
    else {
      const [exported, name] = [words[0] ?? '', words.at(-1) ?? '']
      const isRenamed = isOurs && exported === 'tool' && name !== 'tool'
      const origin: Origin = isOurs ? (isRenamed ? UNKNOWN : OWN) : { type: 'import', from, exported }
      if (name !== '' && exported !== 'type') add(name, origin)
      words = []
    }
  }
}

/** `const a = ...`, `const a: B = ...`, `const { a, b } = ...`. */
function addVariable(tokens: readonly Token[], at: number, names: ReadonlyMap<string, Origin>, add: Add): void {
  const first = tokens[at]?.text ?? ''
  if (/^[[{]$/.test(first)) {
    for (let index = at + 1; index < tokens.length && tokens[index]?.text !== '='; index++) {
      const { text = '' } = tokens[index] ?? {}
      if (/^[\p{ID_Start}$_]/u.test(text)) add(text, UNKNOWN)
    }
    return
  }
  const isTyped = tokens[at + 1]?.text === ':'
  const value = isTyped ? valueAfterType(tokens, at + 2) : at + 2
  if (value !== undefined && tokens[value]?.text === '[') add(first, LIST)
  else add(first, value !== undefined && isNoFunction(tokens, value, names) ? OTHER : UNKNOWN)
}

/** The position after `: Type =`. Undefined if the type is longer than a name with arguments. */
function valueAfterType(tokens: readonly Token[], at: number): number | undefined {
  for (let index = at; index < at + 12; index++) {
    const text = tokens[index]?.text ?? ''
    if (text === '=') return index + 1
    if (text === '=>' || text === '(') return undefined
  }
  return undefined
}

/** Whether a value is written as something else than a function: a written tool, an instance, a literal. */
function isNoFunction(tokens: readonly Token[], at: number, names: ReadonlyMap<string, Origin>): boolean {
  const [first = '', second = ''] = [tokens[at]?.text, tokens[at + 1]?.text]
  if (first === 'await') return isNoFunction(tokens, at + 1, names)
  if (/^(?:new|true|false|null|undefined|''|0|-|\{)$/.test(first)) return true
  const origin = names.get(first)
  // `tool({ ... })`, `gemini(...)`: what a function of this package returns is no plain function. `tool(fn)` is found elsewhere.
  if (second === '(') return origin?.type === 'own' || origin?.type === 'other'
  // `z.object(...)`: what a method of a package returns is a schema or a client
  if (second === '.' && isCalled(tokens, at) && !takesFunction(tokens, at))
    return /^(?:own|other)$/.test(origin?.type ?? '') || (origin?.type === 'import' && !origin.from.startsWith('.'))
  return false
}

/** Whether a name with members is called: `z.object(...)`, in contrast to `kit.ping`. */
export function isCalled(tokens: readonly Token[], at: number): boolean {
  let index = at
  while (/^\??\.$/.test(tokens[index + 1]?.text ?? '')) index += 2
  return tokens[index + 1]?.text === '('
}

/** Whether the call that starts at a name has a function in it: `memoize((city) => ...)` may return one. */
function takesFunction(tokens: readonly Token[], at: number): boolean {
  let depth = 0
  for (let index = at; index < tokens.length; index++) {
    const { text = '' } = tokens[index] ?? {}
    if (text === '=>' || text === 'function') return true
    if (/^[([{]$/.test(text)) depth++
    else if (/^[)\]}]$/.test(text) && --depth === 0) return false
  }
  return false
}
