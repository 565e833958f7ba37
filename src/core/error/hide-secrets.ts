// Removes secrets from the messages of model providers. Other text stays: "Pass it using the 'apiKey' parameter" is advice.

/** Keys and tokens with a known prefix. A key never starts inside another word, so each text is searched once. */
const KEYS =
  /(?<![\w-])(?:AIza[\w-]{20,}|AQ\.[\w-]{20,}|ya29\.[\w.-]+|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|(?:gh[opsu]|github_pat|hf|glpat|xox[abp])[-_][\w-]{16,}|AKIA[A-Z\d]{12,})/g
const PREFIXED = /\b(?:sk|pk|rk|gsk|xai|key)[-_][\w-]{8,}/gi

/** `api_key: "..."`, `?key=...`, `"x-goog-api-key":"..."`, `Authorization: Bearer ...`. */
const ASSIGNED =
  /(api[-_ ]?key|key|token|secret|password|passwd|credential|authorization|signature)(\\?["'`]?\s{0,3}[:=]\s{0,3}\\?["'`]?)((?:bearer|basic|token)\s+)?([^\s"'`&,;)}\]\\<>]+)/gi

/** `API key abc123...`, `Bearer abc123...`. */
const NAMED = /\b(api[-_ ]?key|token|secret|password|bearer|basic)(\\?["'`]?\s{1,3}\\?["'`]?)([\w.~+/=-]{8,})/gi

/** `https://user:password@host`. */
const IN_ADDRESS = /(:\/\/[^\s/?#@:"'`<>]*:)[^\s/?#"'`<>]+@/g

const HIDDEN = '[hidden]'

/** Replaces everything that looks like a key, a token or a password with `[hidden]`. */
export function hideSecrets(text: string): string {
  return text
    .replace(KEYS, HIDDEN)
    .replace(PREFIXED, (found) => (isRandom(found, 8) ? HIDDEN : found))
    .replace(IN_ADDRESS, `$1${HIDDEN}@`)
    .replace(ASSIGNED, (found, ...match: [string, string, string | undefined, string, number, string]) => {
      const [name, sign, scheme = '', value, at, text] = match
      const isPlainName = /^(?:key|token|signature)$/i.test(name) && !/[\w?&-]/.test(text[at - 1] ?? '')
      const isGiven = value.length >= 8 && (sign.includes('=') || (!isPlainName && /["'`]$/.test(sign)))
      return scheme || isGiven || isRandom(value, 6) ? `${name}${sign}${scheme}${HIDDEN}` : found
    })
    .replace(NAMED, (found, name: string, sign: string, value: string) => {
      const isBearer = /^bearer$/i.test(name) && !/^(?:auth|token|scheme|header|credential|requir)/i.test(value)
      return isBearer || isRandom(value, /^basic$/i.test(name) ? 8 : 16) ? `${name}${sign}${HIDDEN}` : found
    })
}

/** Does it look random: letters with digits, capitals inside, or very long? */
function isRandom(value: string, min: number): boolean {
  if (value.length < min) return false
  return (
    (/\d/.test(value) && /[a-z]/i.test(value)) || (value.length >= 8 && /[a-z][A-Z]/.test(value)) || value.length >= 20
  )
}
