import { encodeBase64 } from '../base/base64.ts'
import { isRecord } from '../base/json.ts'
import type { AuthCredential } from './auth.ts'

/** The secrets of a credential, in the forms in which they are sent. */
export function secretsOfCredential({ apiKey, http, oauth2, serviceAccount, custom }: AuthCredential): string[] {
  const { username = '', password, token } = http?.credentials ?? {}
  const pair = password === undefined ? undefined : `${username}:${password}`
  const basic = pair === undefined ? undefined : encodeBase64(new TextEncoder().encode(pair))
  const { accessToken, refreshToken, idToken, clientSecret } = oauth2 ?? {}
  const headers = isRecord(custom?.headers) ? Object.values(custom.headers).map(String) : []
  const all = [apiKey, password, pair, token, basic, accessToken, refreshToken, idToken, clientSecret, ...headers]
  return [...all, serviceAccount?.privateKey].filter((one) => one !== undefined)
}
