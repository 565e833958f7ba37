import { ToolError } from '../../../core/error/error.ts'

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

/** How often servers and proxies may decode a text: once for the encoding of a request, and three times more. */
export const DECODED_TIMES: number = 4

/** The text as it is after all of these decodings. */
export function decodeOften(text: string): string {
  let decoded = text
  for (let times = 0; times < DECODED_TIMES; times++) decoded = decodeTriplets(decoded)
  return decoded
}

/** Decodes the triplets of a text. Bytes that are no UTF-8 stay encoded, so that the others are still decoded. */
export function decodeTriplets(text: string): string {
  return text.replace(/(?:%[\dA-Fa-f]{2})+/g, (triplets) => {
    try {
      return decodeURIComponent(triplets)
    } catch {
      return triplets.replace(/%[0-7][\dA-Fa-f]/g, (one) => decodeURIComponent(one))
    }
  })
}
