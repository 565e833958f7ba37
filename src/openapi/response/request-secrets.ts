// The secrets of a request, which the API may repeat in its response.
import { encodeBase64 } from '../../base/base64.ts'
import { isRecord } from '../../base/json.ts'
import { createSecretMask, type SecretMask } from '../../base/secret-mask.ts'
import type { AuthCredential } from '../../content/auth.ts'

const MIN_LENGTH = 4

/** Creates a mask for the secrets of credentials, and for headers of the developer that hold secrets. */
export function secretMask(
  credentials: readonly AuthCredential[],
  headers: Headers,
  isSecret: (name: string) => boolean = isSecretHeader,
): SecretMask {
  const secret = [...headers].filter(([name]) => isSecret(name))
  const secrets = [...credentials.flatMap(secretsOf), ...secret.flatMap(([, value]) => secretsOfHeader(value))]
  return createSecretMask(secrets, { minLength: MIN_LENGTH })
}

function secretsOf({ apiKey, http, oauth2, serviceAccount, custom }: AuthCredential): string[] {
  const { username = '', password, token } = http?.credentials ?? {}
  const basic = password === undefined ? undefined : encodeBase64(new TextEncoder().encode(`${username}:${password}`))
  const { accessToken, refreshToken, idToken, clientSecret } = oauth2 ?? {}
  const own = isRecord(custom?.headers) ? Object.values(custom.headers).map(String) : []
  const all = [apiKey, password, token, basic, accessToken, refreshToken, idToken, clientSecret, ...own]
  return [...all, serviceAccount?.privateKey].filter((one) => one !== undefined)
}

/** Does the name of a header say that its value is a secret? */
export function isSecretHeader(name: string): boolean {
  return /auth|key|token|secret|cookie|password|signature/i.test(name)
}

function secretsOfHeader(value: string): string[] {
  return [value, ...value.split(/[\s;=]+/).filter((part) => part.length >= 8)]
}
