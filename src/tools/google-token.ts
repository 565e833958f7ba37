import { loadPeerByName } from '../error/load-peer.ts'

/** An access token, or how to get one each time. */
export type AccessToken = string | (() => string | Promise<string>)

/** The token given, else that of the application default credentials. */
export async function googleToken(given: AccessToken | undefined): Promise<string> {
  if (typeof given === 'string') return given
  if (given) return await given()
  defaults ??= await defaultCredentials()
  const token = await defaults.getAccessToken()
  if (token) return token
  throw new Error('No Google credentials were found. Set GOOGLE_APPLICATION_CREDENTIALS or give accessToken.')
}

/** Kept: it keeps its token until that expires. */
let defaults: { getAccessToken(): Promise<string | null | undefined> } | undefined

async function defaultCredentials(): Promise<NonNullable<typeof defaults>> {
  // its types are those of the devDependency
  const { GoogleAuth } = (await loadPeerByName('google-auth-library')) as typeof import('google-auth-library')
  return new GoogleAuth({ scopes: SCOPE })
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
