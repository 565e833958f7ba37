import { ToolError } from '../../error/error.ts'

/** Encodes everything but the unreserved characters of RFC 3986: letters, digits and `-._~`. */
export function encodeText(text: string): string {
  if (!text.isWellFormed())
    throw new ToolError('An argument contains half of a Unicode character. Send whole characters.', {
      code: 'INVALID_ARGS',
    })
  return encodeURIComponent(text).replace(/[!'()*]/g, hexOf)
}

/** Triplets such as `%2F`, and the reserved characters that cannot split a query: all but `#[]&+`. */
const KEPT = /(%[\dA-Fa-f]{2}|[:/?@!$'()*,;=]+)/

/** Encodes the value of a parameter that allows reserved characters. Nothing in it can start another parameter. */
export function encodeReserved(text: string): string {
  return text
    .split(KEPT)
    .map((part, at) => (at % 2 ? part : encodeText(part)))
    .join('')
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
