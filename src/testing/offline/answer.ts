// An answer in words, made of results: texts as they are, a few sentences, else a list.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { isFailed, type Result } from './heard.ts'
import { nameWords } from './words.ts'

/** What the results say; compared with each other where the message asks for that. */
export function answerFrom(results: readonly Result[], message: string): string {
  const separate = merged(results)
  const told = new Set(separate.map((one) => sentence(one, separate.length > 1)))
  return (
    comparison(separate, message) ??
    [...told].join([...told].some((one) => /\n|^(?!That)[^.]*: /.test(one)) ? '\n' : ' ')
  )
}

const underWay = /^(?:running|pending|in_progress|queued|started|accepted|processing|waiting|submitted|scheduled)$/i
const isDone = (value: unknown): boolean =>
  value === null || /^(?:true|ok|success|done|completed)$/i.test(String(value))

function sentence(result: Result, isOneOfMany: boolean): string {
  const { name, args, response } = result
  if (isFailed(result)) return failure(name, response)
  const status = String(response.status)
  const keys = Object.keys(response)
  if (underWay.test(status)) return ended(`That is under way${inBrackets(facts(response, ['status']))}`)
  const news = keys.filter((key) => !(Object.hasOwn(args, key) && args[key] === response[key]))
  const [key = ''] = news
  const value = response[key]
  const isOnly = news.length === 1
  const echoed = facts(response, news)
  const isQuiet = /^(?:ok|success|done|status|result)$/.test(key) && isDone(value)
  if (news.length === 0 || (isOnly && isQuiet)) return ended(`Done${inBrackets(echoed)}`)
  if (isOnly && typeof value === 'string' && texts.test(key)) return clipped(value)
  if (isOnly && key === 'status') return ended(`${capital(said(value))}${inBrackets(echoed)}`)
  if (isOnly && texts.test(key)) return ended(typeof value === 'number' ? `It is ${value}` : capital(said(value)))
  if (isOnly && typeof value === 'boolean' && /(?:ed|able|sent|paid)$/.test(key))
    return ended(`${capital(`${value ? '' : 'not '}${labelOf(key)}`)}${inBrackets(echoed)}`)
  const where = keys.find((one) => places.test(one) && typeof response[one] === 'string')
  const degrees = keys.find((one) => temperatures.test(one) && typeof response[one] === 'number')
  if (degrees !== undefined) {
    const rest = facts(response, [degrees, where ?? '', 'unit', 'units'])
    return ended(
      `It is ${quantity(degrees, response)}${where ? ` in ${response[where]}` : ''}${rest.length ? `, ${rest.join(', ')}` : ''}`,
    )
  }
  const [subject = 'It'] = isOneOfMany ? echoed.map((one) => capital(one.replace(':', ''))) : []
  if (isOnly && key === where) return ended(`${subject} is in ${value}`)
  if (isOnly && Array.isArray(value) && value.some(isRecord))
    return `${capital(labelOf(key))}:\n${shown(value)
      .map((item) => `- ${item}`)
      .join('\n')}`
  const text = keys.find((one) => texts.test(one) && typeof response[one] === 'string')
  return text ? `${response[text]}${inBrackets(facts(response, [text]))}` : ended(capital(said(response)))
}

const texts = /^(?:text|result|answer|output|message|response|summary|translation|draft|content)$/
const places = /^(?:city|place|location|town|country)$/
const temperatures = /^(?:celsius|fahrenheit|temperature|temp|degrees)/i

function failure(name: string, { error, status, errorCode }: JsonObject): string {
  const text = ended(said(isRecord(error) ? (error.message ?? error) : error))
  if (status === 'unknown_outcome') return `It is not known whether ${labelOf(name)} took effect: ${text}`
  return errorCode === 'CANCELLED' ? `That was not done: ${text}` : `That did not work: ${text}`
}

const MAX_ITEMS = 10
const MAX_DEPTH = 3
const units = new Map([
  ['celsius', ' °C'],
  ['metric', ' °C'],
  ['fahrenheit', ' °F'],
  ['imperial', ' °F'],
  ['humidity', '%'],
])
const money = /(?:amount|price|total|balance|cost|sum|fee|converted)$/i

/** A number with its unit. */
function quantity(key: string, beside: JsonObject): string {
  const named = temperatures.test(key) ? String(beside.units ?? beside.unit ?? '') : ''
  const unit =
    nameWords(key)
      .map((word) => units.get(word))
      .find(Boolean) ?? units.get(named.toLowerCase())
  const currency = money.test(key) && typeof beside.currency === 'string' ? ` ${beside.currency}` : ''
  return `${beside[key]}${unit ?? (temperatures.test(key) ? '°' : currency)}`
}

/** `label: value` for each key but these. */
function facts(object: JsonObject, without: readonly string[], depth = 0): string[] {
  const hasMoney = Object.keys(object).some((key) => money.test(key))
  const keys = Object.keys(object).filter((key) => !without.includes(key) && !(key === 'currency' && hasMoney))
  return keys.slice(0, MAX_ITEMS * 2).map((key) => {
    const value = object[key]
    const text = typeof value === 'number' ? quantity(key, object) : said(value, depth + 1).replace(/\.$/, '')
    return `${labelOf(key)}: ${/: [^)]*$/.test(text) ? `(${text})` : text}`
  })
}

function said(value: unknown, depth = 0): string {
  if (typeof value === 'string') return clipped(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return depth > MAX_DEPTH ? '…' : listed(shown(value, depth)) || 'none'
  if (!isRecord(value)) return value === null || value === undefined ? 'none' : String(value)
  if (depth > MAX_DEPTH) return '…'
  const isTitle = (key: string): boolean => Object.hasOwn(value, key) && typeof value[key] !== 'object'
  const title = ['name', 'title', 'id'].find(isTitle)
  const rest = facts(value, title ? [title] : [], depth)
  return title ? `${value[title]}${inBrackets(rest)}` : rest.join(', ') || 'nothing'
}

/** The first items, and how many more there are. */
function shown(items: readonly unknown[], depth = 0): string[] {
  const more = items.length - MAX_ITEMS
  return [...items.slice(0, MAX_ITEMS).map((item) => said(item, depth + 1)), ...(more > 0 ? [`${more} more`] : [])]
}

/** a, b and c */
export function listed(items: readonly string[], and = 'and'): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} ${and} ${items.at(-1)}`
}

export const labelOf = (name: string): string => nameWords(name).join(' ') || name
const inBrackets = (items: readonly string[]): string => (items.length ? ` (${items.join(', ')})` : '')
const clipped = (text: string): string => (text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text)
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const ended = (text: string): string => (/[.!?…:]["')]?\s*$/.test(text) ? text.trimEnd() : `${text.trimEnd()}.`)

/** Results of which one was made from the other as one: `{ city, celsius }` and `{ fahrenheit }` are `{ city, fahrenheit }`. */
function merged(results: readonly Result[]): Result[] {
  const kept: Result[] = []
  for (const result of results) {
    const values = isFailed(result) ? [] : Object.values(result.args)
    const fedKey = ({ args, response }: Result): string | undefined =>
      Object.keys(response).find(
        (key) => args[key] !== response[key] && typeof response[key] !== 'boolean' && values.includes(response[key]),
      )
    const from = kept.findLastIndex((earlier) => fedKey(earlier) !== undefined)
    const source = kept[from]
    const { [(source && fedKey(source)) ?? '']: _, ...rest } = source?.response ?? {}
    if (source) kept[from] = { name: result.name, args: source.args, response: { ...rest, ...result.response } }
    else kept.push(result)
  }
  return kept
}

const asksToCompare = /\b(?:compare|comparison|versus|vs|difference|which|than)\b/i
const lowering = /^(?:cold|cool|cheap|small|short|low|few|slow|young|near|close|light)er$/i

/** "Cairo is warmer than Oslo: 31 °C against -3 °C." */
function comparison(results: readonly Result[], message: string): string | undefined {
  const [first, ...others] = results
  if (!first || others.length === 0 || !asksToCompare.test(message) || results.some(isFailed)) return undefined
  const isShared = (key: string): boolean =>
    results.every(({ args, response }) => typeof response[key] === 'number' && !Object.hasOwn(args, key))
  const shared = Object.keys(first.response).filter(isShared)
  const key =
    shared.find((one) => temperatures.test(one)) ??
    shared.find((one) => message.toLowerCase().includes(labelOf(one))) ??
    shared[0]
  if (key === undefined) return undefined
  const all = results.map(({ args, response }) => ({
    label: said(Object.values(args)[0]),
    value: Number(response[key]),
    text: quantity(key, response),
  }))
  const [, asked] = /\b(\p{L}+er)\b(?= than|, | of |\?|$)/iu.exec(message) ?? []
  const word = asked?.toLowerCase() ?? (temperatures.test(key) ? 'warmer' : undefined)
  const sign = word && lowering.test(word) ? 1 : -1
  const [best, ...rest] = all.toSorted((a, b) => sign * (a.value - b.value))
  if (!best || !rest[0]) return undefined
  const isEqual = best.value === rest[0].value
  const yes =
    /^\W*(?:is|are|does|has|was)\b/i.test(message) && rest.length === 1
      ? best === all[0] && !isEqual
        ? 'Yes, '
        : 'No, '
      : ''
  if (isEqual) return capital(`${yes}${best.label} and ${rest[0].label} are equal: ${best.text}.`)
  const what = word ? `is ${word} than` : `has a higher ${labelOf(key)} than`
  const values = `${best.text} against ${listed(rest.map(({ text }) => text))}`
  return capital(`${yes}${best.label} ${what} ${listed(rest.map(({ label }) => label))}: ${values}.`)
}
