import { encodeBase64 } from '../../core/base/base64.ts'
import { isRecord } from '../../core/base/json.ts'
import type { AuthCredential, AuthScheme } from '../../core/content/auth.ts'
import { ToolwrightError } from '../../core/error/error.ts'

/** Options of `applyCredential()`. */
export interface ApplyCredentialOptions {
  /** How the API authenticates its callers. */
  readonly authScheme: AuthScheme
  /** The credential, for example `context.authCredential`. */
  readonly credential: AuthCredential
  /** The origin for which the credential was made, such as `https://api.example.com`. */
  readonly origin: string
}

/**
 * Adds a credential to a request: a header, a query parameter or a cookie. Throws if the request goes to another origin than
 * `origin`. The request follows no redirect. Its body is moved to the returned request.
 *
 * @example
 * const request = applyCredential(new Request('https://api.example.com/mail'), { authScheme, credential, origin })
 * const response = await fetch(request)
 */
export function applyCredential(request: Request, options: ApplyCredentialOptions): Request {
  checkOrigin(request.url, options.origin)
  const placed = placeCredential(options.authScheme, options.credential)
  const headers = new Headers(request.headers)
  let url = request.url
  if (placed.in === 'header') for (const [name, value] of placed.headers) setHeader(headers, name, value)
  if (placed.in === 'cookie') setHeader(headers, 'cookie', withCookie(headers.get('cookie'), placed.name, placed.value))
  if (placed.in === 'query') url = withParameter(url, placed.name, placed.value)
  const target = url === request.url ? request : new Request(url, request)
  return new Request(target, { headers, redirect: 'manual' })
}

function checkOrigin(url: string, origin: string): void {
  const [target, allowed] = [new URL(url), URL.canParse(origin) ? new URL(origin) : undefined]
  if (allowed && /^https?:$/.test(allowed.protocol) && target.origin === allowed.origin) return
  throw new ToolwrightError(
    'INVALID_REQUEST',
    `The credential belongs to ${allowed ? allowed.origin : 'an invalid origin'} and is not sent to ${target.origin}. Send the request to the origin of the credential.`,
  )
}

/** Where a credential goes in a request. */
type Placed =
  | { readonly in: 'header'; readonly headers: readonly (readonly [name: string, value: string])[] }
  | { readonly in: 'query' | 'cookie'; readonly name: string; readonly value: string }

function placeCredential(scheme: AuthScheme, credential: AuthCredential): Placed {
  switch (scheme.type) {
    case 'apiKey': {
      const value = credential.apiKey
      if (!value) throw incomplete(scheme, 'apiKey')
      return scheme.in === 'header'
        ? { in: 'header', headers: [[scheme.name, value]] }
        : { in: scheme.in, name: scheme.name, value }
    }
    case 'http':
      return authorization(scheme.scheme === 'basic' ? basic(scheme, credential) : bearer(scheme, credential))
    case 'custom':
      return custom(scheme, credential)
    default:
      return authorization(bearer(scheme, credential))
  }
}

function custom(scheme: AuthScheme, credential: AuthCredential): Placed {
  const headers = credential.custom?.headers
  if (isRecord(headers)) return { in: 'header', headers: Object.entries(headers).map(([k, v]) => [k, String(v)]) }
  return authorization(credential.http?.scheme === 'basic' ? basic(scheme, credential) : bearer(scheme, credential))
}

function authorization(value: string): Placed {
  return { in: 'header', headers: [['authorization', value]] }
}

function bearer(scheme: AuthScheme, { http, oauth2 }: AuthCredential): string {
  const token = http?.credentials.token ?? oauth2?.accessToken ?? oauth2?.idToken
  if (!token) throw incomplete(scheme, 'token')
  return `Bearer ${token}`
}

function basic(scheme: AuthScheme, { http }: AuthCredential): string {
  const { username, password } = http?.credentials ?? {}
  if (username === undefined || password === undefined) throw incomplete(scheme, 'username and password')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 refuses them
  if (username.includes(':') || /[\x00-\x1f\x7f]/.test(username + password))
    throw unusable('user name or password', 'a colon in the user name, or control characters')
  return `Basic ${encodeBase64(new TextEncoder().encode(`${username}:${password}`))}`
}

/** Names that decide how a request is framed or routed. */
const FRAMING = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer'])

/** The names that headers and cookies may have (RFC 9110, RFC 6265). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** The errors of `Headers` contain the value, so it is checked before. */
function setHeader(headers: Headers, name: string, value: string): void {
  if (!TOKEN.test(name) || FRAMING.has(name.toLowerCase()))
    throw unusable('header name', 'a name that is reserved or not valid')
  if (!/^[ -~]+$/.test(value)) throw unusable('value of a header', 'a line break or a character outside of ASCII')
  headers.set(name, value)
}

function withCookie(cookies: string | null, name: string, value: string): string {
  if (!TOKEN.test(name)) throw unusable('cookie name', 'a name that is not valid')
  if (!/^[!#-+\--:<-[\]-~]+$/.test(value))
    throw unusable('value of a cookie', 'a space, a quote, a comma or a semicolon')
  const others = (cookies ?? '').split(';').map((cookie) => cookie.trim())
  return [...others.filter((cookie) => cookie !== '' && cookie.split('=')[0] !== name), `${name}=${value}`].join('; ')
}

/** Other parameters keep their encoding, which a signature may cover. */
function withParameter(url: string, name: string, value: string): string {
  const target = new URL(url)
  const others = target.search.slice(1).split('&')
  const kept = others.filter((one) => one !== '' && !new URLSearchParams(one).has(name))
  target.search = [...kept, new URLSearchParams([[name, value]])].join('&')
  return target.href
}

function incomplete(scheme: AuthScheme, member: string): ToolwrightError {
  return new ToolwrightError(
    'INVALID_REQUEST',
    `The credential has no ${member}, which the scheme "${scheme.type}" needs. Check how the credential was made.`,
  )
}

function unusable(what: string, contents: string): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', `The ${what} of the credential contains ${contents}. Store it again.`)
}
