// How a tool authenticates, as data.

/** The endpoints of one OAuth 2.0 flow. */
export interface OAuthFlow {
  /** Where the user consents. */
  readonly authorizationUrl?: string
  /** Where a code is exchanged for a token. */
  readonly tokenUrl: string
  /** Where a token is refreshed. Default: `tokenUrl`. */
  readonly refreshUrl?: string
  /** The scopes, with a description of each. */
  readonly scopes?: Readonly<Record<string, string>>
}

/** How an API authenticates its callers: the security schemes of OpenAPI, service accounts, and schemes of your own. */
export type AuthScheme =
  | { readonly type: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }
  | { readonly type: 'http'; readonly scheme: 'basic' | 'bearer' }
  | {
      readonly type: 'oauth2'
      readonly flows: { readonly authorizationCode?: OAuthFlow; readonly clientCredentials?: OAuthFlow }
      /** The identifier of the authorization server. If it is set, `iss` of a callback is compared with it (RFC 9207). */
      readonly issuer?: string
      /** Does the authorization server add `iss` to every callback? Then a callback without `iss` is refused. */
      readonly sendsIssuer?: boolean
    }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string; readonly scopes?: readonly string[] }
  | { readonly type: 'serviceAccount' }
  | { readonly type: 'custom'; readonly name: string; readonly [key: string]: unknown }

/** How a client authenticates at a token endpoint. */
export type TokenEndpointAuthMethod = 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'

/** A credential. Only the credential service stores it. */
export interface AuthCredential {
  /** The kind of credential. */
  readonly authType: 'apiKey' | 'http' | 'oauth2' | 'openIdConnect' | 'serviceAccount' | (string & {})
  /** The key of an `apiKey` credential. */
  readonly apiKey?: string
  /** The user and password, or the token, of an `http` credential. */
  readonly http?: {
    readonly scheme: string
    readonly credentials: { readonly username?: string; readonly password?: string; readonly token?: string }
  }
  /** The client, the consent and the tokens of an `oauth2` or `openIdConnect` credential. */
  readonly oauth2?: {
    readonly clientId?: string
    readonly clientSecret?: string
    /** The key of a client that signs its token requests: PKCS#8 in PEM format. */
    readonly privateKey?: string
    /** How the client authenticates. Default: what the authorization server and the credential allow. */
    readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod
    /** The authorization server that knows this client. The secret is not sent to another one. */
    readonly issuer?: string
    readonly authUri?: string
    readonly state?: string
    readonly redirectUri?: string
    readonly authResponseUri?: string
    readonly authCode?: string
    /** The PKCE verifier of `authCode`, if its authorization request had a challenge (RFC 7636). */
    readonly codeVerifier?: string
    readonly accessToken?: string
    readonly refreshToken?: string
    readonly idToken?: string
    /** Seconds since the epoch. */
    readonly expiresAt?: number
    readonly scopes?: readonly string[]
  }
  /** The key of a `serviceAccount` credential. */
  readonly serviceAccount?: {
    readonly clientEmail: string
    readonly privateKey: string
    readonly privateKeyId?: string
    readonly tokenUri?: string
    readonly scopes?: readonly string[]
    readonly targetAudience?: string
  }
  /** The data of a credential of a custom scheme. */
  readonly custom?: { readonly [name: string]: unknown }
}

/** The authentication that a tool needs. */
export interface AuthConfig {
  /** How the API authenticates its callers. Optional if `provider` names a known provider. */
  readonly authScheme?: AuthScheme
  /** A known OAuth provider, such as `github`. It replaces `authScheme`. */
  readonly provider?: string
  /** The scopes to request. Default: the scopes of `authScheme`, or of the credential. */
  readonly scopes?: readonly string[]
  /** Scopes that a stored token must have been requested with. Without one of them, the user consents again. */
  readonly requiredScopes?: readonly string[]
  /** The API that gets the token. The authorization server issues a token for this API only (RFC 8707). */
  readonly resource?: string
  /** The credential that the developer configured, such as an OAuth client. */
  readonly rawAuthCredential?: AuthCredential
  /** The credential that the API accepts, such as an access token. */
  readonly exchangedAuthCredential?: AuthCredential
  /** The key under which the credential service stores the credential. */
  readonly credentialKey?: string
}

/** The arguments of an `adk_request_credential` call, as clients see them. They contain no secret. */
export interface AuthToolArguments {
  /** The call, or `_adk_toolset_auth_<toolset>`, that needs the credential. */
  readonly functionCallId: string
  /** The authentication that is needed, with `exchangedAuthCredential.oauth2.authUri` and `state`. */
  readonly authConfig: AuthConfig
}
