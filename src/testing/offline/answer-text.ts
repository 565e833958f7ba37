// Describes tool results in words: texts unchanged, some results as sentences, others as lists.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { isFailed, type Result } from './conversation.ts'
import { nameWords } from './words.ts'

/** Describes results. Compares two results when the message asks for a comparison. */
export function answerText(results: readonly Result[], message: string): string {
  const separate = mergeDerivedResults(results)
  const told = [...new Set(separate.map((one) => resultSentence(one, separate.length > 1)))]
  return (
    comparisonSentence(separate, message) ?? told.join(told.some((one) => /\n|^(?!That)[^.]*: /.test(one)) ? '\n' : ' ')
  )
}

const pendingStatus =
  /^(?:running|pending|in_progress|queued|started|accepted|processing|waiting|submitted|scheduled)$/i
const isPlainSuccess = (key: string, value: unknown): boolean =>
  /^(?:ok|success|done|status|result)$/.test(key) && /^(?:yes|ok|success|done|completed|none)$/i.test(valueText(value))
const textKeys = /^(?:text|result|answer|output|message|response|summary|translation|draft|content)$/
const placeKeys = /^(?:city|place|location|town|country)$/
const temperatureKeys = /^(?:celsius|fahrenheit|temperature|temp|degrees)/i

function resultSentence(result: Result, isOneOfMany: boolean): string {
  const { name, args, response } = result
  if (isFailed(result)) return failureSentence(name, response)
  if (pendingStatus.test(valueText(response.status)))
    return withFullStop(`That is under way${inBrackets(facts(response, ['status']))}`)
  const keys = Object.keys(response)
  const degrees = keys.find((key) => temperatureKeys.test(key) && typeof response[key] === 'number')
  if (degrees !== undefined) {
    const place = keys.find((key) => placeKeys.test(key)) ?? ''
    const where = place && ` in ${valueText(response[place])}`
    const rest = facts(response, [degrees, place, 'unit', 'units']).map((fact) => `, ${fact}`)
    return withFullStop(`It is ${quantity(degrees, response)}${where}${rest.join('')}`)
  }
  const news = keys.filter((key) => args[key] !== response[key])
  const echoed = inBrackets(facts(response, news))
  const [key = ''] = news
  const value = response[key]
  if (news.length > 1) return withFullStop(capitalize(valueText(response)))
  if (news.length === 0 || isPlainSuccess(key, value)) return withFullStop(`Done${echoed}`)
  if (textKeys.test(key) && typeof value !== 'object')
    return typeof value === 'number' ? `It is ${value}.` : valueText(value)
  if (key === 'status') return withFullStop(`${capitalize(valueText(value))}${echoed}`)
  if (typeof value === 'boolean' && /(?:ed|able|sent|paid)$/.test(key))
    return withFullStop(`${capitalize(`${value ? '' : 'not '}${labelOf(key)}`)}${echoed}`)
  if (placeKeys.test(key)) return withFullStop(`${isOneOfMany ? subjectOf(result) : 'It'} is in ${valueText(value)}`)
  if (Array.isArray(value) && value.some(isRecord))
    return [`${capitalize(labelOf(key))}:`, ...itemTexts(value).map((item) => `- ${item}`)].join('\n')
  return withFullStop(capitalize(valueText(response)))
}

/** The subject of a result: the first argument of its call. */
const subjectOf = ({ args }: Result): string => valueText(Object.values(args)[0] ?? 'It')

function failureSentence(name: string, { error, status, errorCode }: JsonObject): string {
  const text = withFullStop(valueText(isRecord(error) ? (error.message ?? error) : error))
  if (status === 'unknown_outcome') return `It is not known whether ${labelOf(name)} took effect: ${text}`
  return errorCode === 'CANCELLED' ? `That was not done: ${text}` : `That did not work: ${text}`
}

const MAX_ITEMS = 10
const MAX_DEPTH = 3
const moneyKeys = /(?:amount|price|total|balance|cost)$/i

/** A number with its unit. */
function quantity(key: string, beside: JsonObject): string {
  const number = String(beside[key])
  if (moneyKeys.test(key) && typeof beside.currency === 'string') return `${number} ${beside.currency}`
  if (!temperatureKeys.test(key)) return number
  const scale = `${key} ${valueText(beside.units ?? beside.unit)}`
  return `${number}${/fahrenheit|imperial/i.test(scale) ? ' °F' : /celsius|metric/i.test(scale) ? ' °C' : '°'}`
}

/** `label: value` for each key except `without`. A currency is shown with its amount. */
function facts(object: JsonObject, without: readonly string[], depth = 0): string[] {
  const hasMoney = Object.keys(object).some((key) => moneyKeys.test(key))
  const keys = Object.keys(object).filter((key) => !without.includes(key) && !(key === 'currency' && hasMoney))
  return keys.slice(0, MAX_ITEMS * 2).map((key) => {
    const value = object[key]
    const text = typeof value === 'number' ? quantity(key, object) : valueText(value, depth + 1).replace(/\.$/, '')
    return `${labelOf(key)}: ${/: [^)]*$/.test(text) ? `(${text})` : text}`
  })
}

function valueText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return truncate(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object' || value === null) return String(value ?? 'none')
  if (depth > MAX_DEPTH) return '…'
  if (Array.isArray(value)) return joinWords(itemTexts(value, depth)) || 'none'
  const object = value as JsonObject // neither null nor a list
  const title = ['name', 'title', 'id'].find((key) => /^(?:string|number)$/.test(typeof object[key]))
  const rest = facts(object, title ? [title] : [], depth)
  return title ? `${object[title]}${inBrackets(rest)}` : rest.join(', ') || 'nothing'
}

/** The first items, and the number of further items. */
function itemTexts(items: readonly unknown[], depth = 0): string[] {
  const more = items.length - MAX_ITEMS
  return [...items.slice(0, MAX_ITEMS).map((item) => valueText(item, depth + 1)), ...(more > 0 ? [`${more} more`] : [])]
}

/** Joins words: `a, b and c`. */
export function joinWords(items: readonly string[], and = 'and'): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${and} ${items.at(-1)}`
}

/** A key or name as words: `gift_wrap` is `gift wrap`. */
export const labelOf = (name: string): string => nameWords(name).join(' ') || name
const inBrackets = (items: readonly string[]): string => (items.length ? ` (${items.join(', ')})` : '')
const truncate = (text: string): string => (text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text)
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const withFullStop = (text: string): string => (/[.!?…:]["')]?\s*$/.test(text) ? text.trimEnd() : `${text.trimEnd()}.`)

/** Merges a result with the result its call used: `{ city, celsius }` and `{ fahrenheit }` become `{ city, fahrenheit }`. */
function mergeDerivedResults(results: readonly Result[]): Result[] {
  const kept: Result[] = []
  for (const result of results) {
    const values = isFailed(result) ? [] : Object.values(result.args)
    const isUsed = ({ args, response }: Result, key: string): boolean =>
      args[key] !== response[key] && values.includes(response[key])
    const from = kept.findLastIndex((one) => Object.keys(one.response).some((key) => isUsed(one, key)))
    const source = kept[from] ?? { ...result, response: {} }
    const rest = Object.entries(source.response).filter(([key]) => !isUsed(source, key))
    kept[from < 0 ? kept.length : from] = { ...source, response: { ...Object.fromEntries(rest), ...result.response } }
  }
  return kept
}

const lowerIsMore = /^(?:cold|cool|cheap|small|short|low|few|slow|young|near|close|light)er$/

/** Compares two results: "Cairo is warmer than Oslo: 31 °C against -3 °C." */
function comparisonSentence(results: readonly Result[], message: string): string | undefined {
  if (results.length !== 2 || results.some(isFailed) || !/\b(?:compare|vs|which|than)\b/i.test(message))
    return undefined
  const isShared = (key: string): boolean =>
    results.every(({ args, response }) => typeof response[key] === 'number' && !Object.hasOwn(args, key))
  const [key] = Object.keys(results[0]?.response ?? {}).filter(isShared)
  if (key === undefined) return undefined
  const [, er] = /\b(\p{L}+er)\b(?= than|,|\?|$)/u.exec(message.toLowerCase()) ?? []
  const word = er ?? (temperatureKeys.test(key) ? 'warmer' : undefined)
  const sign = lowerIsMore.test(word ?? '') ? 1 : -1
  const [best, other] = results.toSorted((a, b) => sign * (Number(a.response[key]) - Number(b.response[key])))
  if (!best || !other) return undefined
  const isEqual = best.response[key] === other.response[key]
  const yes = !/^\W*(?:is|are|has)\b/i.test(message) ? '' : best === results[0] && !isEqual ? 'Yes, ' : 'No, '
  const [value, against] = [quantity(key, best.response), quantity(key, other.response)]
  if (isEqual) return capitalize(`${yes}${subjectOf(best)} and ${subjectOf(other)} are equal: ${value}.`)
  const what = word ? `is ${word} than` : `has a higher ${labelOf(key)} than`
  return capitalize(`${yes}${subjectOf(best)} ${what} ${subjectOf(other)}: ${value} against ${against}.`)
}
