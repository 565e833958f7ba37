// Finds arguments by simple patterns: choices, numbers, dates, ids, quotations, names, and the rest of the message.
import { type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { FunctionCall } from '../../../core/content/content.ts'
import { choicesOf, type DeclaredTool, type Parameter, toPlainText, typeOf } from './declared-tool.ts'
import { labelOf, mentions, stemsOf } from './words.ts'

/** A call that may lack arguments. */
export interface PlannedCall extends FunctionCall {
  /** Required parameters without a value. */
  readonly missing: readonly Parameter[]
}

/** Where arguments come from. */
interface FillOptions {
  /** The message with the text. It fills what the text does not. */
  readonly whole: string
  /** Stems that belong to tools, and so to no argument. */
  readonly toolWords: ReadonlySet<string>
  /** The time for "today", in milliseconds. */
  readonly now: number
}

const DAY_MS = 86_400_000
const NUMBER = /(?<![\w.-])-?\d{1,15}(?:\.\d{1,9})?(?![\w-])/
const DATE = /\b\d{4}-\d\d-\d\d\b/
const CODE = /(?<![\w-])\p{L}{1,10}-?\d[\w-]{0,40}/u
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}/
const QUOTE = /"([^"]{1,2000})"/
const AFTER_COLON = /: +(\S[\s\S]{0,2000})/
const NAME = /\p{Lu}[\p{L}\p{N}'-]{0,40}(?: (?:de |of )?\p{Lu}[\p{L}\p{N}'-]{0,40}){0,3}/gu
const ID_NAME = /\b(?:id|code|number|sku|reference)$/
const TEXT_NAME = /\b(?:text|query|question|message|note|body|title|task|content|subject|reason|topic)$/

/** Fills the parameters of a tool. */
export function fillArguments(tool: DeclaredTool, text: string, options: FillOptions): PlannedCall {
  const args: JsonObject = {}
  const missing: Parameter[] = []
  const left = { text }
  for (const parameter of tool.parameters) {
    const value = findValue(parameter, left, options) ?? findValue(parameter, { text: options.whole }, options)
    if (value !== undefined) setOwn(args, parameter.name, value)
    else if (parameter.isRequired) missing.push(parameter)
  }
  return { name: tool.name, args, missing }
}

/** Whether the rest of a message can be the value. */
export const isFreeText = ({ name, schema }: Parameter): boolean =>
  typeOf(schema) === 'string' && choicesOf(schema).length === 0 && TEXT_NAME.test(labelOf(name))

/** The value of a parameter. What it takes is removed from the text. */
function findValue(parameter: Parameter, left: { text: string }, options: FillOptions): unknown {
  const { name, schema, isRequired } = parameter
  const choices = choicesOf(schema)
  const type = typeOf(schema)
  if (choices.length) {
    const said = choices.find((choice) => mentions(left.text, toPlainText(choice)))
    return said ?? (isRequired && choices.length === 1 ? choices[0] : undefined)
  }
  if (type === 'boolean') return mentions(left.text, name) || (isRequired ? false : undefined)
  if (type === 'number' || type === 'integer') {
    const found = isRequired ? take(left, NUMBER) : undefined
    return found === undefined || (type === 'integer' && !Number.isInteger(Number(found))) ? undefined : Number(found)
  }
  return type === 'string' ? findText(parameter, left, options) : undefined
}

function findText({ name, schema, isRequired }: Parameter, left: { text: string }, options: FillOptions): unknown {
  const { format } = schema
  if (format === 'date' || (format === undefined && /\bdate$/.test(labelOf(name)))) return findDate(left, options.now)
  if (format === 'email') return take(left, EMAIL)
  if (format !== undefined || !isRequired) return undefined
  if (name === 'request') return options.whole.trim() // an agent tool gets the message
  if (ID_NAME.test(labelOf(name))) return take(left, CODE) ?? take(left, numberAfter(labelOf(name)))
  const quote = take(left, QUOTE) ?? take(left, AFTER_COLON)
  if (quote !== undefined) return quote.trim()
  return TEXT_NAME.test(labelOf(name)) ? restOf(left.text, options) : takeName(left, options)
}

function take(left: { text: string }, pattern: RegExp): string | undefined {
  const [whole, part = whole] = pattern.exec(left.text) ?? []
  if (whole !== undefined) left.text = left.text.replace(whole, ' ')
  return part
}

/** The number after a word of the name: `order 7` for `order id`. */
const numberAfter = (label: string): RegExp =>
  new RegExp(`\\b(?:${label.replaceAll(' ', '|')})s?\\W{1,3}(\\d{1,40})`, 'i')

function findDate(left: { text: string }, now: number): string | undefined {
  const days = mentions(left.text, 'tomorrow') ? 1 : mentions(left.text, 'today') ? 0 : undefined
  return days === undefined ? take(left, DATE) : new Date(now + days * DAY_MS).toISOString().slice(0, 10)
}

/** A capitalised name. The first word of a text is one if there is no other. */
function takeName(left: { text: string }, { toolWords }: FillOptions): string | undefined {
  const isName = (found: string): boolean => {
    const stems = stemsOf(found)
    return stems.length > 0 && !stems.some((word) => toolWords.has(word))
  }
  const found = [...left.text.matchAll(NAME)].filter(([name]) => isName(name))
  const [name] = found.find(({ index }) => left.text.slice(0, index).trim() !== '') ?? found[0] ?? []
  if (name !== undefined) left.text = left.text.replace(name, ' ')
  return name
}

/** The message without the fillers and tool words around it. */
function restOf(text: string, { toolWords }: FillOptions): string | undefined {
  const words = text
    .trim()
    .replace(/[.?!]+$/, '')
    .split(/\s+/)
  const hasMeaning = (word: string): boolean => stemsOf(word).some((one) => !toolWords.has(one))
  const rest = words.slice(words.findIndex(hasMeaning), words.findLastIndex(hasMeaning) + 1)
  return rest.join(' ') || undefined
}
