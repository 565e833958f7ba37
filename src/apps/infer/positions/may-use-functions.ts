// A quick look at the text of a file, before the compiler is loaded. Most files with tools write their schemas, and compiling types
// takes a second. A wrong yes costs that second. A wrong no leaves a function without its schema, so in doubt the answer is yes.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { declarationsOf, isCalled } from './declared-names.ts'
import { type Token, tokensOf } from './tokens.ts'

/** The answer, and the files that were read to give it. */
interface QuickLook {
  /** Whether the file may use a plain function as a tool. */
  readonly mayUseFunctions: boolean
  /** Imported files that export written tools. The answer holds as long as they do. */
  readonly readFiles: readonly string[]
}

/** What a file mentions that uses a function as a tool. */
const MENTIONS_TOOLS = /\btools?\b|Toolset\b|ToolSource|toolSource|ToolFunction|toolwright/

/** Whether a text mentions tools at all. A file that does not is never transformed. */
export function mentionsTools(text: string): boolean {
  return MENTIONS_TOOLS.test(text)
}

/** Looks whether a file may use a plain function as a tool. */
export function lookForFunctions(file: string, text: string): QuickLook {
  if (!mentionsTools(text)) return { mayUseFunctions: false, readFiles: [] }
  const tokens = tokensOf(text)
  const names = declarationsOf(tokens)
  const readFiles: string[] = []
  /** Whether the value of a name, of its member or of its call may be a function. Parameters are not known here. */
  const mayBeFunction: MayBeFunction = (name, use) => {
    const origin = names.get(name)
    if (origin && use === 'member') return true
    if (origin?.type === 'own') return use === 'value' // a mistake to report: `tools: [googleSearch]`
    if (origin?.type !== 'import') return origin?.type === 'unknown'
    const path = origin.from.startsWith('.') ? resolve(dirname(file), origin.from) : undefined
    if (path === undefined && use === 'method') return false // z.literal(3)
    const source = path && readText(path)
    if (path === undefined || source === undefined) return true
    readFiles.push(path)
    // what the file imports itself is not followed further, and the functions in a list are not known here
    const { type = 'unknown' } = declarationsOf(tokensOf(source)).get(origin.exported) ?? {}
    return type !== 'other' && type !== 'own'
  }
  const mayUseFunctions = tokens.some((_, at) => isFunctionAt(tokens, at, mayBeFunction))
  return { mayUseFunctions, readFiles }
}

type MayBeFunction = (name: string, use: 'value' | 'call' | 'member' | 'method') => boolean

/** Whether a function may stand at a position where tools are expected. */
function isFunctionAt(tokens: readonly Token[], at: number, mayBeFunction: MayBeFunction): boolean {
  const { text, content, inside } = tokens[at] as Token
  const [before, next] = [tokens[at - 1]?.text ?? '', tokens[at + 1]?.text ?? '']
  if (/^(?:ToolFunction|ToolSource|toolSource)$/.test(text)) return next !== ',' && next !== '}' // not only imported
  if (text === 'tool') return next === 'as' || isToolOfFunction(tokens, at)
  const isProperty = next === ':' && inside === '{' && !/^(?:const|let|var)$/.test(before)
  if (isProperty && (text === 'tools' || content === 'tools')) return mayHoldFunction(tokens, at + 2, mayBeFunction)
  const isShorthand = text === 'tools' && inside === '{' && /^[{,]$/.test(before) && /^[},]$/.test(next)
  const isItem = inside === 'list' || (inside === '(' && isArgumentOrItem(tokens, at))
  if (isItem && /^(?:=>|function|async)$/.test(text)) return true
  return (isItem || isShorthand) && isFunctionName(tokens, at, mayBeFunction)
}

/** Whether an expression such as `isAdmin ? both : []` has a name in it that may be a function. */
function mayHoldFunction(tokens: readonly Token[], start: number, mayBeFunction: MayBeFunction): boolean {
  const open: boolean[] = [] // for each bracket, whether it only groups: `(both)`
  for (let at = start; at < tokens.length; at++) {
    const { text } = tokens[at] as Token
    const isValue = !open.includes(false)
    if (/^[([{]$/.test(text)) open.push(text === '(' && !/[\p{ID_Continue}$)\]]$/u.test(tokens[at - 1]?.text ?? ''))
    else if (/^[)\]}]$/.test(text)) {
      if (open.length === 0) return false
      open.pop()
    } else if (text === ',' && open.length === 0) return false
    else if (isValue && isFunctionName(tokens, at, mayBeFunction)) return true
  }
  return false
}

function isFunctionName(tokens: readonly Token[], at: number, mayBeFunction: MayBeFunction): boolean {
  const [before, text, next] = [at - 1, at, at + 1].map((index) => tokens[index]?.text ?? '') as [
    string,
    string,
    string,
  ]
  if (!/^[\p{ID_Start}$_]/u.test(text) || /^\??\.$/.test(before)) return false
  if (!/^\??\.$/.test(next)) return mayBeFunction(text, next === '(' ? 'call' : 'value')
  if (text === 'this') return true
  return mayBeFunction(text, isCalled(tokens, at) ? 'method' : 'member')
}

/** Functions whose arguments are tools, besides lists: `new StaticToolset(...)`, `toolset.push(...)`, `withTools(...)`. */
const TAKES_TOOLS = /tool|^push$|^register$/i

/** `tool(fn)` or `tool<T>(fn)`: anything but options. */
function isToolOfFunction(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1]?.text
  return next === '<' || (next === '(' && tokens[at + 2]?.text !== '{')
}

/** Whether the parentheses around a token belong to `push(...)` or `register(...)`, or to an item of a list: `[(fn)]`. */
function isArgumentOrItem(tokens: readonly Token[], at: number): boolean {
  let depth = 0
  for (let index = at - 1; index >= 0; index--) {
    const { text, inside } = tokens[index] as Token
    if (/^[)\]}]$/.test(text)) depth++
    else if (/^[([{]$/.test(text) && depth-- === 0) {
      const before = tokens[index - 1]?.text ?? ''
      return TAKES_TOOLS.test(before) || (inside === 'list' && !/[\p{ID_Continue}$)\]>]$/u.test(before))
    }
  }
  return false
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
