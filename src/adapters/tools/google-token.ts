import type { AuthCredential } from '../../core/content/auth.ts'
import { loadPeerByName } from '../../core/error/load-peer.ts'

/** A Google Cloud access token, or a function that returns one for each request. */
export type AccessToken = string | (() => string | Promise<string>)

/** The given token as a credential, otherwise a token of the application default credentials. */
export async function googleCredential(given: AccessToken | undefined): Promise<AuthCredential> {
  const token = await googleToken(given)
  return { authType: 'http', http: { scheme: 'bearer', credentials: { token } } }
}

async function googleToken(given: AccessToken | undefined): Promise<string> {
  if (typeof given === 'string') return given
  if (given) return await given()
  defaults ??= await defaultCredentials()
  const token = await defaults.getAccessToken()
  if (token) return token
  throw new Error('No Google Cloud credentials found. Set GOOGLE_APPLICATION_CREDENTIALS or the accessToken option.')
}

/** Created once: it caches its token until the token expires. */
let defaults: { getAccessToken(): Promise<string | null | undefined> } | undefined

async function defaultCredentials(): Promise<NonNullable<typeof defaults>> {
  // the type comes from the devDependency of the same name
  const { GoogleAuth } = (await loadPeerByName('google-auth-library')) as typeof import('google-auth-library')
  return new GoogleAuth({ scopes: SCOPE })
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
