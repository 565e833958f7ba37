// Which hosts are not on the public internet. A URL from a stranger that names one of them reaches into the network of the
// operator. Addresses are compared as numbers: `new URL()` has already read 0x7f.1, 0177.1 and full-width digits.

/** Does the host name this machine: 127.0.0.0/8, ::1 or localhost? `hostname` is the one of a `URL`. */
export function isLoopbackHost(hostname: string): boolean {
  const host = plainHost(hostname)
  if (host === 'localhost') return true
  const v4 = readV4(host) ?? embeddedV4(readV6(host))
  return v4 === undefined ? isSame(readV6(host), LOOPBACK_V6) : v4 >>> 24 === 127
}

/**
 * Is the host outside of the public internet: a loopback, private, link-local, multicast or reserved address, a name
 * without a dot, or a name that only local resolvers know? `hostname` is the one of a `URL`, or an address.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = plainHost(hostname)
  const v4 = readV4(host)
  if (v4 !== undefined) return isPrivateV4(v4)
  if (host.includes(':')) return isPrivateV6(readV6(host))
  return !host.includes('.') || LOCAL_NAMES.some((name) => host.endsWith(`.${name}`))
}

/** Top-level names that are not delegated (RFC 6761, RFC 6762, RFC 8375, and names that routers and clouds use). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'home.arpa']

const LOOPBACK_V6 = [0, 0, 0, 0, 0, 0, 0, 1]

/** IPv4 blocks that are not public (RFC 6890), as address and prefix length. */
const PRIVATE_V4: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** Is an IPv4 address in a block that is not public? False for a text that is no such address. */
export function isPrivateIpv4(text: string): boolean {
  const address = readV4(text)
  return address !== undefined && isPrivateV4(address)
}

function isPrivateV4(address: number): boolean {
  return PRIVATE_V4.some(([block, prefix]) => (address ^ (readV4(block) ?? 0)) >>> (32 - prefix) === 0)
}

/** Only 2000::/3 is public, without its special blocks. An address that contains an IPv4 address is that address. */
function isPrivateV6(groups: readonly number[] | undefined): boolean {
  const v4 = embeddedV4(groups)
  if (v4 !== undefined) return isPrivateV4(v4)
  const [first = 0, second = 0] = groups ?? []
  if (first === 0x2001) return second < 0x0200 || second === 0x0db8 // Teredo and others; documentation
  return first < 0x2000 || first > 0x3ffe
}

/** The IPv4 address in ::a.b.c.d, ::ffff:a.b.c.d, 64:ff9b::a.b.c.d and 2002:a.b.c.d::. */
function embeddedV4(groups: readonly number[] | undefined): number | undefined {
  if (!groups || isSame(groups, LOOPBACK_V6)) return undefined
  const [first = 0, second = 0, third = 0] = groups
  if (first === 0x2002) return join(second, third)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0 || groups[5] === 0xffff)
  const isTranslated = first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  return isMapped || isTranslated ? join(groups[6] ?? 0, groups[7] ?? 0) : undefined
}

function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
}

function readV4(host: string): number | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = host.split('.').map(Number)
  return join((a << 8) | b, (c << 8) | d)
}

/** The 8 groups of an IPv6 address. Undefined if it is none. */
function readV6(host: string): readonly number[] | undefined {
  if (!host.includes(':')) return undefined
  const tail = /(?:^|:)(\d+\.\d+\.\d+\.\d+)$/.exec(host)?.[1]
  const v4 = tail === undefined ? undefined : readV4(tail)
  const text =
    v4 === undefined ? host : host.replace(tail ?? '', `${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`)
  const [head = '', rest, ...more] = text.replace(/%.*$/, '').split('::')
  const left = groupsOf(head)
  const right = groupsOf(rest ?? '')
  const gap = 8 - left.length - right.length
  const isWhole = rest === undefined ? gap === 0 : gap > 0
  const groups = [...left, ...Array<number>(Math.max(0, gap)).fill(0), ...right]
  return isWhole && more.length === 0 && groups.every((group) => group >= 0 && group <= 0xffff) ? groups : undefined
}

function groupsOf(text: string): number[] {
  return text === ''
    ? []
    : text.split(':').map((group) => (/^[\da-f]{1,4}$/.test(group) ? Number.parseInt(group, 16) : -1))
}

function join(high: number, low: number): number {
  return ((high << 16) | low) >>> 0
}

function isSame(one: readonly number[] | undefined, other: readonly number[]): boolean {
  return one?.every((group, at) => group === other[at]) === true
}
