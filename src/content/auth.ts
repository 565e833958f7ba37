// How a tool authenticates, as data.

export interface OAuthFlow {
  readonly authorizationUrl?: string
  readonly tokenUrl: string
  readonly refreshUrl?: string
  readonly scopes?: Readonly<Record<string, string>>
}

export type AuthScheme =
  | { readonly type: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }
  | { readonly type: 'http'; readonly scheme: 'basic' | 'bearer' }
  | {
      readonly type: 'oauth2'
      readonly flows: { readonly authorizationCode?: OAuthFlow; readonly clientCredentials?: OAuthFlow }
    }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string; readonly scopes?: readonly string[] }
  | { readonly type: 'serviceAccount' }
  | { readonly type: 'custom'; readonly name: string; readonly [key: string]: unknown }

export interface AuthCredential {
  readonly authType: 'apiKey' | 'http' | 'oauth2' | 'openIdConnect' | 'serviceAccount' | (string & {})
  readonly apiKey?: string
  readonly http?: {
    readonly scheme: string
    readonly credentials: { readonly username?: string; readonly password?: string; readonly token?: string }
  }
  readonly oauth2?: {
    readonly clientId?: string
    readonly clientSecret?: string
    readonly authUri?: string
    readonly state?: string
    readonly redirectUri?: string
    readonly authResponseUri?: string
    readonly authCode?: string
    readonly accessToken?: string
    readonly refreshToken?: string
    /** Seconds since the epoch. */
    readonly expiresAt?: number
    readonly scopes?: readonly string[]
  }
  readonly serviceAccount?: {
    readonly clientEmail: string
    readonly privateKey: string
    readonly privateKeyId?: string
    readonly tokenUri?: string
    readonly scopes?: readonly string[]
    readonly targetAudience?: string
  }
}

/** What a tool needs and what it got so far. */
export interface AuthConfig {
  readonly authScheme: AuthScheme
  readonly rawAuthCredential?: AuthCredential
  readonly exchangedAuthCredential?: AuthCredential
  readonly credentialKey?: string
}
