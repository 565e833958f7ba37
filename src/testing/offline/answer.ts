// An answer in words, made of results.
import { isRecord, type JsonObject } from '../../base/json.ts'
import { isFailed, type Result } from './heard.ts'
import { merged } from './merge.ts'
import { isTemperature, isUnitKey } from './units.ts'
import { labelOf, listed, spoken } from './values.ts'
import { nameWords, stem } from './words.ts'

/** What the results say, a sentence or more for each. */
export function answerFrom(results: readonly Result[]): string {
  const separate = merged(results)
  const told = separate.map((result) => sentence(result, separate.length > 1))
  return [...new Set(told)].join(told.some((one) => one.includes('\n')) ? '\n\n' : ' ')
}

const underWay = new Set(
  'running pending in_progress queued started accepted processing waiting submitted scheduled'.split(' '),
)
const denials = /\b(?:denied|declined|rejected|refused|not approved|not confirmed)\b/i

function sentence(result: Result, isOneOfMany: boolean): string {
  const { name, response } = result
  if (isFailed(result)) return failure(result)
  if (typeof response.status === 'string' && underWay.has(response.status.toLowerCase())) {
    const facts = factsOf(response, ['status'])
    return `${name} is under way${facts.length ? ` (${facts.map(({ label, value }) => `${label} ${value}`).join(', ')})` : ''}.`
  }
  const only = onlyValue(response)
  if (only !== undefined) return only
  return described(result, isOneOfMany)
}

function failure({ name, response }: Result): string {
  const said =
    isRecord(response.error) && typeof response.error.message === 'string' ? response.error.message : response.error
  const text = ended(spoken(said))
  if (response.status === 'unknown_outcome') return `It is not known whether ${name} took effect: ${text}`
  return denials.test(text) ? `That was not done: ${text}` : `That did not work: ${text}`
}

const wrappers = new Set(['text', 'result', 'answer', 'output', 'message', 'response', 'summary', 'translation'])

/** A result that is one text or one value. */
function onlyValue(response: JsonObject): string | undefined {
  const keys = Object.keys(response)
  const [key = ''] = keys
  if (keys.length === 0) return 'Done.'
  if (keys.length > 1) return undefined
  const value = response[key]
  if (wrappers.has(key))
    return value === null || value === undefined ? 'Done.' : ended(capital(spoken(value, key, response)))
  if (/^(?:ok|success|done|status)$/.test(key) && /^(?:true|ok|success|done|completed)$/.test(String(value)))
    return 'Done.'
  return undefined
}

const places = new Set('city place location town country address room'.split(' ').map(stem))
const isPlace = (key: string): boolean => nameWords(key).some((word) => places.has(stem(word)))

function described({ args, response }: Result, isOneOfMany: boolean): string {
  const echoed = Object.keys(response).filter((key) => Object.hasOwn(args, key) && args[key] === response[key])
  const place = Object.keys(response).find((key) => isPlace(key) && typeof response[key] === 'string')
  const temperature = Object.keys(response).find((key) => isTemperature(key) && typeof response[key] === 'number')
  if (temperature !== undefined) {
    const where = place === undefined ? '' : ` in ${response[place]}`
    const rest = factsOf(response, [temperature, place ?? '', ...echoed])
    return ended(`It is ${spoken(response[temperature], temperature, response)}${where}${withRest(rest)}`)
  }
  const news = factsOf(response, echoed)
  const subject = isOneOfMany
    ? echoed.map((key) => `${isPlace(key) ? '' : `${labelOf(key)} `}${response[key]}`).join(', ')
    : ''
  const lead = subject ? `${capital(subject)}: ` : ''
  if (news.length === 0)
    return `Done: ${ended(listed(factsOf(response, []).map(({ label, value }) => `${label} ${value}`)))}`
  if (place !== undefined && news.length === 1 && !echoed.includes(place))
    return ended(`${lead}${lead ? 'it' : 'It'} is in ${response[place]}`)
  const said = listed(news.map(({ clause }) => clause))
  return ended(lead ? `${lead}${said}` : capital(said))
}

const withRest = (facts: readonly Fact[]): string =>
  facts.length ? `; ${listed(facts.map(({ label, value }) => `${label} ${value}`))}` : ''

interface Fact {
  readonly label: string
  readonly value: string
  /** As a clause: "the price is 5", "it is booked". */
  readonly clause: string
}

function factsOf(response: JsonObject, without: readonly string[]): Fact[] {
  return Object.entries(response)
    .filter(([key, value]) => !without.includes(key) && value !== undefined && !isUnitKey(key, response))
    .map(([key, value]) => {
      const label = labelOf(key)
      const said = spoken(value, key, response)
      return { label, value: said, clause: clauseOf(label, value, said) }
    })
}

const adjective = /^\w+(?:ed|able|ible|en)$|^(?:done|valid|ready|full|empty|active|sent|paid|sold|online|offline|new)$/

function clauseOf(label: string, value: unknown, said: string): string {
  if (typeof value === 'boolean' && adjective.test(label)) return `it is ${value ? '' : 'not '}${label}`
  if (typeof value === 'boolean') return `${label}: ${said}`
  const isMany = Array.isArray(value) && /[^s]s$/.test(label)
  return `the ${label} ${isMany ? 'are' : 'is'} ${said.replace(/\.$/, '')}`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const ended = (text: string): string => (/[.!?…:]["')]?$/.test(text.trimEnd()) ? text.trimEnd() : `${text.trimEnd()}.`)
