// The formats of JSON Schema, each checked in time linear in the length of the text. Long texts are searched for what
// must not be there, which leaves a regular expression nothing to backtrack into; the others have a bounded length.

import { isRegularExpression } from '../pattern/parse-pattern.ts'

/** Checks one format. An unknown format accepts every text, as JSON Schema has it. */
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
    iri: (text: string) => isUri(asciiOf(text), true),
    'iri-reference': (text: string) => isUri(asciiOf(text), false),
    'uri-template': isUriTemplate,
    url: isWebAddress,
    email: isEmail,
    'idn-email': (text: string) => isEmail(asciiOf(text)),
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

/** Formats of JSON Schema that are not checked; a schema that asks for one is refused. */
export const UNCHECKED_FORMATS: ReadonlySet<unknown> = new Set(['idn-hostname'])

/** Letters of other scripts stand where ASCII letters may stand. */
function asciiOf(text: string): string {
  return text.replace(/[\u00a0-\u{10ffff}]/gu, 'a')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

// A fraction of a second may have many digits, but not thousands.
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

const NOT_IN_PATH = /[^\w\-.~!$&'()*+,;=:@/%]|%(?![0-9a-f]{2})/i
const NOT_IN_QUERY = /[^\w\-.~!$&'()*+,;=:@/?%]|%(?![0-9a-f]{2})/i
const NOT_IN_USER = /[^\w\-.~!$&'()*+,;=:%]|%(?![0-9a-f]{2})/i
const NOT_IN_HOST = /[^\w\-.~!$&'()*+,;=%]|%(?![0-9a-f]{2})/i

/** RFC 3986: `scheme://user@host:port/path?query#fragment`; a reference needs no scheme. */
function isUri(text: string, isAbsolute: boolean): boolean {
  const [beforeFragment, fragment] = splitAt(text, '#')
  const [address, query] = splitAt(beforeFragment, '?')
  if ((fragment !== undefined && NOT_IN_QUERY.test(fragment)) || (query !== undefined && NOT_IN_QUERY.test(query)))
    return false
  const colon = address.indexOf(':')
  const slash = address.indexOf('/')
  const hasScheme = colon >= 0 && (slash < 0 || colon < slash)
  if (hasScheme ? !/^[a-z][a-z\d+\-.]*$/i.test(address.slice(0, colon)) : isAbsolute) return false
  const rest = hasScheme ? address.slice(colon + 1) : address
  if (!rest.startsWith('//')) return !NOT_IN_PATH.test(rest)
  const end = rest.indexOf('/', 2)
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end)
  return isAuthority(authority) && (end < 0 || !NOT_IN_PATH.test(rest.slice(end)))
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  if (at >= 0 && NOT_IN_USER.test(authority.slice(0, at))) return false
  const host = authority.slice(at + 1)
  if (!host.startsWith('[')) {
    const [name, port] = splitAt(host, ':')
    return !NOT_IN_HOST.test(name) && (port === undefined || !/\D/.test(port))
  }
  const end = host.indexOf(']')
  if (end < 0 || !/^(?::\d*)?$/.test(host.slice(end + 1))) return false
  const address = host.slice(1, end)
  return isIpv6(address) || (/^v[0-9a-f]+\.[^%]/i.test(address) && !NOT_IN_USER.test(address))
}

function splitAt(text: string, sign: string): [string, string | undefined] {
  const at = text.indexOf(sign)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
const NOT_IN_TEMPLATE = /[\x00-\x20\x7f"<>\\^`{|}]|%(?![0-9a-f]{2})/i
const VARIABLE = /^(?:\w|%[0-9a-f]{2})(?:\.?(?:\w|%[0-9a-f]{2}))*(?::[1-9]\d{0,3}|\*)?$/i

/** RFC 6570: text with expressions like `{?q,page*}`. */
function isUriTemplate(text: string): boolean {
  let at = 0
  for (;;) {
    const open = text.indexOf('{', at)
    if (NOT_IN_TEMPLATE.test(open < 0 ? text.slice(at) : text.slice(at, open))) return false
    if (open < 0) return true
    const close = text.indexOf('}', open)
    if (close < 0) return false
    const expression = text.slice(open + 1, close).replace(/^[+#./;?&=,!@|]/, '')
    if (!expression.split(',').every((variable) => VARIABLE.test(variable))) return false
    at = close + 1
  }
}

/** Longer host names, labels and addresses do not exist. */
const MAX_HOST = 253
const MAX_LABEL = 63
const MAX_USER = 64

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i

function isHostname(text: string): boolean {
  if (text.length > MAX_HOST) return false
  return text.split('.').every((label) => label.length <= MAX_LABEL && LABEL.test(label))
}

const WEB_LABEL = /^[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]*[a-z0-9\u00a1-\uffff])?$/i
const TOP_LEVEL = /^(?:[a-z\u00a1-\uffff]{2,}|xn--[a-z0-9-]+)$/i

/** An http, https or ftp address of a public host. */
function isWebAddress(text: string): boolean {
  const scheme = /^(?:https?|ftp):\/\//i.exec(text)
  if (!scheme || /\s/.test(text)) return false
  const [authority] = splitAt(text.slice(scheme[0].length), '/')
  const user = authority.lastIndexOf('@')
  const [host, port] = splitAt(authority.slice(user + 1), ':')
  if (user === 0 || host.length > MAX_HOST || (port !== undefined && !/^\d{2,5}$/.test(port))) return false
  if (isIpv4(host)) return isPublicIpv4(host.split('.').map(Number))
  const labels = host.split('.')
  return labels.length > 1 && labels.every((label) => WEB_LABEL.test(label)) && TOP_LEVEL.test(String(labels.at(-1)))
}

function isPublicIpv4([a = 0, b = 0, , d = 0]: number[]): boolean {
  if (a === 0 || a === 10 || a === 127 || a > 223 || d === 0 || d === 255) return false
  return !((a === 169 && b === 254) || (a === 192 && b === 168) || (a === 172 && b >= 16 && b <= 31))
}

const ATOMS = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1 || at > MAX_USER || text.length - at - 1 > MAX_HOST) return false
  const user = text.slice(0, at)
  const host = text.slice(at + 1)
  if (!ATOMS.test(user) && !QUOTED.test(user)) return false
  if (!host.startsWith('[') || !host.endsWith(']')) return isHostname(host)
  const address = host.slice(1, -1)
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address)
}

const IPV4 = /^(?:(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/

function isIpv4(text: string): boolean {
  return text.length <= 15 && IPV4.test(text)
}

/** Eight groups of four hex digits; `::` stands for one or more groups of zeros, the last two may be an IPv4 address. */
function isIpv6(text: string): boolean {
  if (text.length > 45) return false
  const [before = '', after, ...more] = text.split('::')
  if (more.length > 0) return false
  const groups = [before, after ?? ''].flatMap((side) => (side === '' ? [] : side.split(':')))
  const last = groups.at(-1)
  const endsInIpv4 = last !== undefined && isIpv4(last) && text.endsWith(last)
  if (endsInIpv4) groups.pop()
  const count = groups.length + (endsInIpv4 ? 2 : 0)
  return (after === undefined ? count === 8 : count <= 7) && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
}

function isJsonPointer(text: string): boolean {
  return (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)
}

function isJsonPointerFragment(text: string): boolean {
  return text.startsWith('#') && isJsonPointer(text.slice(1)) && !NOT_IN_PATH.test(text.slice(1))
}

function isRelativeJsonPointer(text: string): boolean {
  const [steps] = /^(?:0|[1-9]\d{0,99})(?!\d)/.exec(text) ?? []
  if (steps === undefined) return false
  const rest = text.slice(steps.length)
  return rest === '#' || isJsonPointer(rest)
}
