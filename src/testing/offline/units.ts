// What a number is measured in, by the key it stands under.
import type { JsonObject } from '../../base/json.ts'
import { nameWords } from './words.ts'

const signs: ReadonlyMap<string, string> = new Map([
  ['celsius', ' °C'],
  ['c', ' °C'],
  ['fahrenheit', ' °F'],
  ['f', ' °F'],
  ['kelvin', ' K'],
  ['percent', '%'],
  ['percentage', '%'],
  ['humidity', '%'],
  ['km', ' km'],
  ['kilometers', ' km'],
  ['kilometres', ' km'],
  ['miles', ' miles'],
  ['kmh', ' km/h'],
  ['kph', ' km/h'],
  ['mph', ' mph'],
  ['kg', ' kg'],
  ['grams', ' g'],
  ['ms', ' ms'],
  ['seconds', ' seconds'],
  ['minutes', ' minutes'],
  ['hours', ' hours'],
  ['days', ' days'],
  ['bytes', ' bytes'],
  ['usd', ' USD'],
  ['eur', ' EUR'],
  ['gbp', ' GBP'],
  ['metric', ' °C'],
  ['imperial', ' °F'],
])

const temperatures = new Set(['celsius', 'fahrenheit', 'kelvin', 'temperature', 'temp', 'degrees'])
const money = new Set(['amount', 'price', 'total', 'balance', 'cost', 'sum', 'fee', 'value', 'converted', 'result'])

export function isTemperature(key: string): boolean {
  return nameWords(key).some((word) => temperatures.has(word))
}

/** The unit with the space before it; `beside` is the object the number stands in. */
export function unitOf(key: string, beside: JsonObject): string {
  const words = nameWords(key)
  const own = words.map((word) => (word.length > 1 ? signs.get(word) : undefined)).find((sign) => sign !== undefined)
  if (own !== undefined) return own
  const named = textUnder(beside, ['unit', 'units'])
  if (isTemperature(key)) return signs.get(named.toLowerCase()) ?? (named ? ` ${named}` : '°')
  const currency = words.some((word) => money.has(word)) ? textUnder(beside, ['currency']) : ''
  return currency ? ` ${currency}` : ''
}

/** Keys that only say what a number beside them is measured in. */
export function isUnitKey(key: string, beside: JsonObject): boolean {
  if (key === 'unit' || key === 'units') return Object.keys(beside).some(isTemperature)
  return key === 'currency' && Object.keys(beside).some((other) => nameWords(other).some((word) => money.has(word)))
}

function textUnder(object: JsonObject, keys: readonly string[]): string {
  const key = keys.find((one) => Object.hasOwn(object, one) && typeof object[one] === 'string')
  return key === undefined ? '' : String(object[key])
}
