// The formats of addresses, each checked in time linear in the length of the text.
import { isPrivateIpv4 } from '../../base/private-address.ts'

const NOT_IN_PATH = /[^\w\-.~!$&'()*+,;=:@/%]|%(?![0-9a-f]{2})/i
const NOT_IN_QUERY = /[^\w\-.~!$&'()*+,;=:@/?%]|%(?![0-9a-f]{2})/i
const NOT_IN_USER = /[^\w\-.~!$&'()*+,;=:%]|%(?![0-9a-f]{2})/i
const NOT_IN_HOST = /[^\w\-.~!$&'()*+,;=%]|%(?![0-9a-f]{2})/i

/** RFC 3986: `scheme://user@host:port/path?query#fragment`. A reference (`isAbsolute` false) needs no scheme. */
export function isUri(text: string, isAbsolute: boolean): boolean {
  const [beforeFragment, fragment] = splitAt(text, '#')
  const [address, query] = splitAt(beforeFragment, '?')
  if ((fragment !== undefined && NOT_IN_QUERY.test(fragment)) || (query !== undefined && NOT_IN_QUERY.test(query)))
    return false
  const colon = address.indexOf(':')
  const slash = address.indexOf('/')
  const hasScheme = colon >= 0 && (slash < 0 || colon < slash)
  if (hasScheme ? !/^[a-z][a-z\d+\-.]*$/i.test(address.slice(0, colon)) : isAbsolute) return false
  const rest = hasScheme ? address.slice(colon + 1) : address
  if (!rest.startsWith('//')) return isUriPath(rest)
  const end = rest.indexOf('/', 2)
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end)
  return isAuthority(authority) && (end < 0 || isUriPath(rest.slice(end)))
}

/** Does the text have only characters that the path of a URI may have? */
export function isUriPath(text: string): boolean {
  return !NOT_IN_PATH.test(text)
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

/** RFC 6570: text with expressions such as `{?q,page*}`. */
export function isUriTemplate(text: string): boolean {
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

/** The longest host names, labels and users of email addresses. */
const MAX_HOST = 253
const MAX_LABEL = 63
const MAX_USER = 64

const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i

/** RFC 1123: labels of letters, digits and hyphens. */
export function isHostname(text: string): boolean {
  if (text.length > MAX_HOST) return false
  return text.split('.').every((label) => label.length <= MAX_LABEL && LABEL.test(label))
}

const WEB_LABEL = /^[a-z0-9\u00a1-\uffff](?:[a-z0-9\u00a1-\uffff-]*[a-z0-9\u00a1-\uffff])?$/i
const TOP_LEVEL = /^(?:[a-z\u00a1-\uffff]{2,}|xn--[a-z0-9-]+)$/i

/** An http, https or ftp address of a public host. */
export function isWebAddress(text: string): boolean {
  const scheme = /^(?:https?|ftp):\/\//i.exec(text)
  if (!scheme || /\s/.test(text)) return false
  const [authority] = splitAt(text.slice(scheme[0].length), '/')
  const user = authority.lastIndexOf('@')
  const [host, port] = splitAt(authority.slice(user + 1), ':')
  if (user === 0 || host.length > MAX_HOST || (port !== undefined && !/^\d{2,5}$/.test(port))) return false
  if (isIpv4(host)) return isPublicIpv4(host)
  const labels = host.split('.')
  return labels.length > 1 && labels.every((label) => WEB_LABEL.test(label)) && TOP_LEVEL.test(String(labels.at(-1)))
}

/** The first and the last address of a block are no host. */
function isPublicIpv4(host: string): boolean {
  return !/\.(?:0|255)$/.test(host) && !isPrivateIpv4(host)
}

const ATOMS = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/

/** RFC 5321: `user@host`. */
export function isEmail(text: string): boolean {
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

/** Four decimal numbers up to 255. */
export function isIpv4(text: string): boolean {
  return text.length <= 15 && IPV4.test(text)
}

/** Eight groups of hex digits. `::` stands for one or more groups of zeros. The last two may be an IPv4 address. */
export function isIpv6(text: string): boolean {
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
