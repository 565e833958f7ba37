import { isRecord, type JsonObject } from '../../../core/base/json.ts'

/** What an answer to a consent may say. Everything else in it is ignored. */
export interface ConsentAnswer {
  /** The authorization code. */
  readonly code: string | undefined
  /** Compared with the stored `state`. */
  readonly state: string | undefined
  /** The issuer that the callback names. */
  readonly iss: string | undefined
  /** `error` of the callback: the user declined, or the server failed. */
  readonly error: string | undefined
  /** The redirect URI that the client used. */
  readonly redirectUri: string | undefined
}

/** Longer texts are no callback URL. */
const MAX_LENGTH = 64_000
/** An answer may be wrapped this many times. */
const MAX_WRAPPERS = 4

/**
 * Reads `{ authResponseUri, redirectUri? }`, `{ code, state, redirectUri? }`, or the AuthConfig that adk-web sends back, each
 * also as `{ response }`, `{ result }` or JSON text. Undefined for anything else.
 */
export function readConsentAnswer(response: JsonObject): ConsentAnswer | undefined {
  let value: unknown = response
  for (let wrappers = 0; wrappers <= MAX_WRAPPERS; wrappers++) {
    if (typeof value === 'string') value = parseJson(value)
    if (!isRecord(value)) return undefined
    const answer = readAnswer(value)
    if (answer) return answer
    value = memberOf(value, 'response', 'result')
  }
  return undefined
}

function readAnswer(value: JsonObject): ConsentAnswer | undefined {
  const exchanged = memberOf(value, 'exchangedAuthCredential', 'exchanged_auth_credential')
  const oauth2 = isRecord(exchanged) ? memberOf(exchanged, 'oauth2') : undefined
  const isAuthConfig = isRecord(oauth2)
  const source = isAuthConfig ? oauth2 : value
  const redirectUri = textOf(source, 'redirectUri', 'redirect_uri')
  const authResponseUri = textOf(source, 'authResponseUri', 'auth_response_uri')
  if (authResponseUri !== undefined) return readCallback(authResponseUri, redirectUri)
  const code = isAuthConfig ? textOf(source, 'authCode', 'auth_code') : textOf(source, 'code')
  if (code === undefined) return undefined
  const iss = isAuthConfig ? undefined : textOf(source, 'iss')
  return { code, state: textOf(source, 'state'), iss, error: undefined, redirectUri }
}

/** Reads a callback URL. The `state` is the one of the URL: a `state` beside it only repeats the request. */
function readCallback(uri: string, redirectUri: string | undefined): ConsentAnswer | undefined {
  if (uri.length > MAX_LENGTH || !URL.canParse(uri)) return undefined
  const { searchParams } = new URL(uri)
  const parameters = new Map<string, string>()
  for (const [name, value] of searchParams) {
    // A parameter that is given twice is refused (RFC 6749, 3.1): which one did the server send?
    if (PARAMETERS.has(name) && parameters.has(name)) return undefined
    parameters.set(name, value)
  }
  const read = (name: string): string | undefined => parameters.get(name) || undefined
  const [code, error] = [read('code'), read('error')]
  if (code === undefined && error === undefined) return undefined
  return { code, state: read('state'), iss: read('iss'), error, redirectUri }
}

const PARAMETERS: ReadonlySet<string> = new Set(['code', 'state', 'iss', 'error'])

/** The first of the members that the object has itself. */
function memberOf(value: JsonObject, ...names: readonly string[]): unknown {
  for (const name of names) if (Object.hasOwn(value, name)) return value[name]
  return undefined
}

function textOf(value: JsonObject, ...names: readonly string[]): string | undefined {
  const text = memberOf(value, ...names)
  return typeof text === 'string' && text !== '' && text.length <= MAX_LENGTH ? text : undefined
}

function parseJson(text: string): unknown {
  if (text.length > MAX_LENGTH) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
