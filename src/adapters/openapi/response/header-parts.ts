/** The value of a header that holds a secret, taken apart. */
interface HeaderParts {
  /** What follows the scheme: the token of `Bearer ...`. The whole value if there is no scheme. */
  readonly credential: string
  /** Words, and values behind a name: the token of `Token token="..."`, and of `sid=...`. */
  readonly parts: readonly string[]
}

const SCHEMES = /^(?:bearer|basic|digest|token|key|api-?key|dpop|hawk|jwt|oauth)$/i

/** Takes the value of a header apart. The scheme is no part: it is no secret. */
export function partsOfHeader(name: string, value: string): HeaderParts {
  const credential = withoutScheme(name, value.trim())
  const words = credential.split(/[\s;,]+/)
  const quoted = [...credential.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text)
  const parts = [
    ...words.flatMap((word) => [word, unquoted(word), unquoted(word.replace(/^[^=]*=/, ''))]),
    ...quoted.flatMap((text) => [text, text.replace(/\\(.)/g, '$1')]),
    // a key with "=" inside, of which a server repeats one side
    ...credential.split(/[\s;=]+/).filter(({ length }) => length >= 8),
  ]
  return { credential, parts: parts.flatMap((part) => [part, decoded(part)]) }
}

function withoutScheme(name: string, value: string): string {
  const [, scheme = '', rest = ''] = /^([\w-]+)\s+(.*)$/.exec(value) ?? []
  return SCHEMES.test(scheme) || (scheme !== '' && /auth/i.test(name)) ? rest : value
}

/** Without quotes, and without the padding of base64. */
function unquoted(word: string): string {
  return word.replace(/^"|"$/g, '').replace(/=+$/, '')
}

/** Cookies are often percent-encoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
