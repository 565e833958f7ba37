// The secrets of a request, which the API may repeat in its response.
import { decodeBase64 } from '../../../core/base/base64.ts'
import { isRecord } from '../../../core/base/json.ts'
import { createSecretMask, type SecretMask } from '../../../core/base/secret-mask.ts'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { secretsOfCredential } from '../../../core/content/credential-secrets.ts'
import { partsOfHeader } from './header-parts.ts'

/** Of a whole secret: a key, a password, or what follows the scheme of a header. */
const MIN_LENGTH = 4

/** Of a part of a header. Shorter parts, such as `dark` of `theme=dark`, are too often no secret. */
const MIN_PART_LENGTH = 6

/** Creates a mask for the secrets of credentials, and for headers of the developer that hold secrets. */
export function secretMask(
  credentials: readonly AuthCredential[],
  headers: Headers,
  isSecret: (name: string) => boolean = isSecretHeader,
): SecretMask {
  const secret = [...headers].filter(([name]) => isSecret(name))
  const secrets = [
    ...credentials.flatMap(secretsOf),
    ...secret.flatMap(([name, value]) => secretsOfHeader(name, value)),
  ]
  return createSecretMask(secrets, { minLength: MIN_LENGTH })
}

function secretsOf(credential: AuthCredential): string[] {
  const { custom } = credential
  const own = isRecord(custom?.headers) ? Object.entries(custom.headers) : []
  return [...secretsOfCredential(credential), ...own.flatMap(([name, value]) => secretsOfHeader(name, String(value)))]
}

/** Does the name of a header say that its value is a secret? */
export function isSecretHeader(name: string): boolean {
  return /auth|key|token|secret|cookie|password|signature/i.test(name)
}

function secretsOfHeader(name: string, value: string): string[] {
  const { credential, parts } = partsOfHeader(name, value)
  return [value, credential, ...basicSecrets(value), ...parts.filter(({ length }) => length >= MIN_PART_LENGTH)]
}

/** The user with the password, and the password, of `Basic ...`. */
function basicSecrets(value: string): string[] {
  const [, encoded] = /^\s*basic\s+([\w+/-]+)=*\s*$/i.exec(value) ?? []
  if (encoded === undefined) return []
  const standard = encoded.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = decodeBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, '='))
  if (!bytes) return []
  // servers read the bytes as UTF-8 or as Latin-1
  const texts = ['utf-8', 'latin1'].map((encoding) => new TextDecoder(encoding).decode(bytes))
  return [...new Set(texts)].flatMap((pair) => [pair, pair.slice(pair.indexOf(':') + 1)])
}
