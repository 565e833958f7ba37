// The formats of JSON Schema, each checked in time linear in the length of the text. A regular expression either searches
// for a character that is not allowed, so that it never backtracks, or checks a text of bounded length.
import { isRegularExpression } from '../pattern/regular-expression.ts'
import {
  isEmail,
  isHostname,
  isIpv4,
  isIpv6,
  isUri,
  isUriPath,
  isUriTemplate,
  isWebAddress,
} from './address-formats.ts'

/** The check of a format; undefined for an unknown format, which accepts every text. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return FORMATS.get(format)
}

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    date: isDate,
    time: isTime,
    'date-time': isDateTime,
    duration: isDuration,
    uri: (text: string) => isUri(text, true),
    'uri-reference': (text: string) => isUri(text, false),
    iri: (text: string) => isUri(toAscii(text), true),
    'iri-reference': (text: string) => isUri(toAscii(text), false),
    'uri-template': isUriTemplate,
    url: isWebAddress,
    email: isEmail,
    'idn-email': (text: string) => isEmail(toAscii(text)),
    hostname: isHostname,
    ipv4: isIpv4,
    ipv6: isIpv6,
    regex: isRegularExpression,
    uuid: (text: string) => UUID.test(text),
    'json-pointer': isJsonPointer,
    'json-pointer-uri-fragment': isJsonPointerFragment,
    'relative-json-pointer': isRelativeJsonPointer,
  }),
)

/** Formats of JSON Schema that have no check. A schema that uses one is refused. */
export const UNCHECKED_FORMATS: ReadonlySet<unknown> = new Set(['idn-hostname'])

/** Replaces characters beyond ASCII by a letter: they are allowed wherever ASCII letters are. */
function toAscii(text: string): string {
  return text.replace(/[\u00a0-\u{10ffff}]/gu, 'a')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Characters of a time or a duration: a fraction of a second may have many digits, but not thousands. */
const MAX_TIME = 1_000

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0)
  const days = month === '02' ? (isLeap ? 29 : 28) : ['04', '06', '09', '11'].includes(String(month)) ? 30 : 31
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days
}

const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i

function isTime(text: string): boolean {
  if (text.length > MAX_TIME) return false
  const [found, hour, minute, second, sign, offsetHour = '0', offsetMinute = '0'] = TIME.exec(text) ?? []
  if (found === undefined || second !== '60') return found !== undefined
  // A leap second is the last of a day in UTC.
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1)
  return (Number(hour) * 60 + Number(minute) - offset + 2_880) % 1_440 === 1_439
}

function isDateTime(text: string): boolean {
  return /^[t\s]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}

const DAY_PART = /^(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)$/
const TIME_PART = /^(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)$/

function isDuration(text: string): boolean {
  if (text.length > MAX_TIME || !text.startsWith('P')) return false
  if (/^P\d+W$/.test(text)) return true
  const [days = '', time, ...more] = text.slice(1).split('T')
  if (more.length > 0 || (days === '' && time === undefined)) return false
  return (days === '' || DAY_PART.test(days)) && (time === undefined || TIME_PART.test(time))
}

function isJsonPointer(text: string): boolean {
  return (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)
}

function isJsonPointerFragment(text: string): boolean {
  return text.startsWith('#') && isJsonPointer(text.slice(1)) && isUriPath(text.slice(1))
}

function isRelativeJsonPointer(text: string): boolean {
  const [steps] = /^(?:0|[1-9]\d{0,99})(?!\d)/.exec(text) ?? []
  if (steps === undefined) return false
  const rest = text.slice(steps.length)
  return rest === '#' || isJsonPointer(rest)
}
