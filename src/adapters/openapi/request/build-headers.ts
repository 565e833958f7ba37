// Headers and cookies from arguments. The model can set neither the framing of a request nor its credentials.
import { ToolError } from '../../../core/error/error.ts'
import type { ApiOperation, ApiParameter } from '../operation.ts'
import { contentText } from './content-text.ts'
import { encodeText } from './percent-encode.ts'
import { serializePairs, serializeSimple } from './serialize-value.ts'

/** Headers that frame or route a request, carry credentials, or change its method. */
const RESERVED =
  /^(?:host|authorization|content-length|content-type|transfer-encoding|content-encoding|accept|accept-encoding|cookie|set-cookie|connection|keep-alive|te|trailer|upgrade|expect|via|forwarded|proxy-.*|sec-.*|x-forwarded-.*|x-http-method(?:-override)?|x-method-override)$/i

/** Must arguments never set this header? */
export function isReservedHeader(name: string): boolean {
  return RESERVED.test(name)
}

/** The names that headers and cookies may have (RFC 9110, RFC 6265). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** The headers of a request that come from arguments, cookies included. */
export function buildHeaders(operation: ApiOperation, args: ReadonlyMap<string, unknown>): Headers {
  const headers = new Headers()
  const cookies: string[] = []
  for (const parameter of operation.parameters) {
    const value = args.get(parameter.argument)
    if (parameter.in === 'cookie') cookies.push(...cookiesOf(parameter, value))
    if (parameter.in !== 'header') continue
    const written = headerValue(parameter, value)
    if (written === undefined) continue
    if (isReservedHeader(parameter.name) || !TOKEN.test(parameter.name))
      throw invalid(`The argument "${parameter.argument}" sets a header that only the developer may set. Leave it out.`)
    headers.set(parameter.name, checkHeaderText(parameter, written))
  }
  if (cookies.length) headers.set('cookie', cookies.join('; '))
  return headers
}

function headerValue({ name, explode, contentType }: ApiParameter, value: unknown): string | undefined {
  if (contentType === undefined) return serializeSimple(value, { name, style: 'simple', explode, encode: String })
  // JSON can be written in ASCII, which every header may have
  return contentText(value, contentType)?.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Cookies are encoded like a query, because their syntax has no room for most characters. */
function cookiesOf(parameter: ApiParameter, value: unknown): string[] {
  const { name, style, explode, contentType } = parameter
  const encode = (text: string): string => encodeText(checkHeaderText(parameter, text))
  if (contentType === undefined) return serializePairs(value, { name, style, explode, encode })
  const text = contentText(value, contentType)
  return text === undefined ? [] : [`${encodeText(name)}=${encodeText(text)}`]
}

function checkHeaderText({ argument }: ApiParameter, text: string): string {
  if (/^[\t -~\u0080-\u00ff]*$/.test(text)) return text
  throw invalid(
    `The argument "${argument}" is sent in a header and contains a line break, a control character or a character outside of Latin-1. Remove it.`,
  )
}

function invalid(message: string): ToolError {
  return new ToolError(message, { code: 'INVALID_ARGS' })
}
