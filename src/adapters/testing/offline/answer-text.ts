// Describes tool results in words: texts unchanged, temperatures and places in a sentence, others as a list.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Result } from './conversation.ts'
import type { DeclaredTool } from './declared-tool.ts'
import { joinWords, labelOf } from './words.ts'

/** What the model says about itself. */
export const SELF =
  "I am Toolwright's offline model: rules instead of a language model, so that this works without a key."

const MAX_ITEMS = 10
const MAX_DEPTH = 3
const MAX_TEXT = 2_000
const MAX_ABILITIES = 8
const PENDING = /^(?:pending|running|queued|started|in_progress)$/
const PLAIN_SUCCESS = /^(?:yes|ok|success|done|completed|none)$/
const TEXT_KEY = /^(?:text|result|answer|message|summary|draft|content)$/
const PLACE_KEY = /^(?:city|place|location)$/
const DEGREES_KEY = /^(?:celsius|fahrenheit|temperature)$/
const MONEY_KEY = /(?:amount|price|total)$/i

/** Is the response an error? */
export const isFailed = ({ response: { error } }: Result): boolean =>
  error !== undefined && error !== null && error !== false

/** Describes results; empty without any. */
export function answerText(results: readonly Result[]): string {
  const told = [...new Set(mergeDerived(results).map(sentenceOf))]
  const hasList = told.some((one) => /\n|^(?!That)[^.]*: /.test(one))
  return told.join(hasList ? '\n' : ' ')
}

function sentenceOf(result: Result): string {
  const { args, response } = result
  if (isFailed(result)) return failureText(result)
  if (PENDING.test(valueText(response.status)))
    return withStop(`That is under way${inBrackets(factsOf(response, ['status']))}`)
  const keys = Object.keys(response)
  const degrees = keys.find((key) => DEGREES_KEY.test(key) && typeof response[key] === 'number')
  if (degrees !== undefined) return temperatureText(response, degrees)
  const news = keys.filter((key) => args[key] !== response[key])
  const [key = '', ...more] = news
  const value = response[key]
  const echoed = inBrackets(factsOf(response, news))
  if (more.length) return withStop(capitalize(valueText(response)))
  if (key === '' || (/^(?:status|result|ok)$/.test(key) && PLAIN_SUCCESS.test(valueText(value))))
    return withStop(`Done${echoed}`)
  if (TEXT_KEY.test(key) && typeof value !== 'object')
    return typeof value === 'number' ? `It is ${value}.` : valueText(value)
  if (key === 'status') return withStop(`${capitalize(valueText(value))}${echoed}`)
  if (typeof value === 'boolean' && /(?:ed|able)$/.test(key))
    return withStop(`${capitalize(`${value ? '' : 'not '}${labelOf(key)}`)}${echoed}`)
  if (PLACE_KEY.test(key)) return withStop(`It is in ${valueText(value)}`)
  if (Array.isArray(value) && value.some(isRecord))
    return [`${capitalize(labelOf(key))}:`, ...itemTexts(value).map((item) => `- ${item}`)].join('\n')
  return withStop(capitalize(valueText(response)))
}

function failureText({ name, response: { error, errorCode, status } }: Result): string {
  const text = withStop(valueText(isRecord(error) ? (error.message ?? error) : error))
  if (status === 'unknown_outcome') return `It is not known whether ${labelOf(name)} took effect: ${text}`
  return errorCode === 'CANCELLED' ? `That was not done: ${text}` : `That did not work: ${text}`
}

function temperatureText(response: JsonObject, key: string): string {
  const scale = `${key} ${valueText(response.units)}`
  const unit = /fahrenheit/.test(scale) ? ' °F' : /celsius/.test(scale) ? ' °C' : '°'
  const place = Object.keys(response).find((one) => PLACE_KEY.test(one)) ?? ''
  const rest = factsOf(response, [key, place, 'units']).map((fact) => `, ${fact}`)
  return withStop(`It is ${response[key]}${unit}${place && ` in ${valueText(response[place])}`}${rest.join('')}`)
}

/** `label: value` for each key except `without`. A currency is shown with its amount. */
function factsOf(object: JsonObject, without: readonly string[], depth = 0): string[] {
  const hasMoney = Object.keys(object).some((key) => MONEY_KEY.test(key))
  const keys = Object.keys(object).filter((key) => !without.includes(key) && !(key === 'currency' && hasMoney))
  return keys.slice(0, MAX_ITEMS * 2).map((key) => {
    const currency = MONEY_KEY.test(key) && typeof object.currency === 'string' ? ` ${object.currency}` : ''
    const text = `${valueText(object[key], depth + 1)}${currency}`.replace(/\.$/, '')
    return `${labelOf(key) || key}: ${/: [^)]*$/.test(text) ? `(${text})` : text}`
  })
}

function valueText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object' || value === null) return String(value ?? 'none')
  if (depth > MAX_DEPTH) return '…'
  if (Array.isArray(value)) return joinWords(itemTexts(value, depth)) || 'none'
  const object = value as JsonObject // neither null nor a list
  const title = ['name', 'title', 'id'].find((key) => /^(?:string|number)$/.test(typeof object[key]))
  const rest = factsOf(object, title ? [title] : [], depth)
  return title ? `${object[title]}${inBrackets(rest)}` : rest.join(', ') || 'nothing'
}

/** The first items, and the number of further items. */
function itemTexts(items: readonly unknown[], depth = 0): string[] {
  const more = items.length - MAX_ITEMS
  return [...items.slice(0, MAX_ITEMS).map((item) => valueText(item, depth + 1)), ...(more > 0 ? [`${more} more`] : [])]
}

/** Merges a result with the one its call used: `{ city, celsius }` and `{ fahrenheit }` become `{ city, fahrenheit }`. */
function mergeDerived(results: readonly Result[]): Result[] {
  const kept: Result[] = []
  for (const result of results) {
    const values = isFailed(result) ? [] : Object.values(result.args)
    const isUsed = ({ args, response }: Result, key: string): boolean =>
      args[key] !== response[key] && values.includes(response[key])
    const from = kept.findIndex((one) => Object.keys(one.response).some((key) => isUsed(one, key)))
    const source = kept[from]
    const rest = Object.entries(source?.response ?? {}).filter(([key]) => source && !isUsed(source, key))
    if (source) kept[from] = { ...source, response: { ...Object.fromEntries(rest), ...result.response } }
    else kept.push(result)
  }
  return kept
}

/** Describes the tools, and the agents that can take over. */
export function describeAbilities(tools: readonly DeclaredTool[], agents: readonly DeclaredTool[]): string {
  const can = tools.map((tool) => {
    const isAgent = tool.parameters.some(({ name }) => name === 'request')
    return isAgent ? `ask ${labelOf(tool.name)}${inBrackets([clauseOf(tool)])}` : clauseOf(tool) || labelOf(tool.name)
  })
  const all = [...can, ...agents.map((agent) => `hand over to ${agent.name}${inBrackets([clauseOf(agent)])}`)]
  return all.length ? `I can ${joinWords(all.slice(0, MAX_ABILITIES), 'or')}.` : 'I have no tools here.'
}

/** The first sentence of a description, to be used inside a sentence. */
function clauseOf({ description }: DeclaredTool): string {
  const [first = ''] = description.trim().split(/[.!?](?:\s|$)|\n/)
  return first.charAt(0).toLowerCase() + first.slice(1, 100)
}

const inBrackets = (items: readonly string[]): string => (items.some(Boolean) ? ` (${items.join(', ')})` : '')
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const withStop = (text: string): string => (/[.!?…:]["')]?$/.test(text) ? text : `${text}.`)
