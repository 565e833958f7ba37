import { closestNames } from '../../../core/base/closest-names.ts'
import { isRecord } from '../../../core/base/json.ts'
import type { AuthConfig, AuthScheme } from '../../../core/content/auth.ts'
import { ToolwrightError } from '../../../core/error/error.ts'

/**
 * The option `auth`: one configuration for the whole API, or one for each security scheme of the document. `anonymous` sends
 * no credential where the document asks for one: the API needs none, or the options `headers` and `fetch` send it.
 */
export type AuthOption = AuthConfig | 'anonymous' | { readonly [scheme: string]: AuthConfig | 'anonymous' }

/** Is it one configuration for the whole API? */
export function isAuthConfig(auth: AuthOption): auth is AuthConfig {
  if (auth === 'anonymous') return false
  const { authScheme, provider, rawAuthCredential, credentialKey } = auth as AuthConfig
  return (
    typeof authScheme?.type === 'string' ||
    typeof provider === 'string' ||
    typeof rawAuthCredential?.authType === 'string' ||
    typeof credentialKey === 'string'
  )
}

/** Throws INVALID_CONFIG if `auth` names a scheme that the document does not have. */
export function checkSchemeNames(
  auth: AuthOption | undefined,
  known: ReadonlyMap<string, unknown>,
  what: string,
): void {
  if (auth === undefined || auth === 'anonymous' || isAuthConfig(auth)) return
  for (const [name, config] of Object.entries(auth)) {
    if (config !== 'anonymous' && !isRecord(config))
      throw new ToolwrightError('INVALID_CONFIG', `${what}: auth.${name} must be an AuthConfig or "anonymous".`)
    if (known.has(name)) continue
    const [meant] = closestNames(name, [...known.keys()])
    const hint = meant === undefined ? `It has ${listed([...known.keys()])}.` : `Did you mean "${meant}"?`
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: auth names the security scheme "${name}", which the document does not have. ${hint}`,
    )
  }
}

/** A configuration that says how its credential is sent. */
type CompleteConfig = (AuthConfig & { readonly authScheme: AuthScheme }) | (AuthConfig & { readonly provider: string })

/**
 * The configuration for one security scheme of the document, with its `authScheme`; undefined if there is none. A single
 * configuration is used for schemes of its own type. OAuth tokens, bearer tokens and service accounts fit every scheme with
 * bearer tokens. `scheme` is undefined for a scheme that cannot be used as the document describes it.
 */
export function configFor(
  auth: AuthOption | undefined,
  name: string,
  { scheme, type }: { readonly scheme: AuthScheme | undefined; readonly type: unknown },
): CompleteConfig | 'anonymous' | undefined {
  if (auth === undefined || auth === 'anonymous') return auth
  const isSingle = isAuthConfig(auth)
  const config = isSingle ? auth : Object.hasOwn(auth, name) ? auth[name] : undefined
  if (!config || config === 'anonymous') return config
  const { authScheme, provider } = config
  if (!authScheme && provider === undefined && isBearerToken(config) && (type === 'oauth2' || type === 'openIdConnect'))
    return { ...config, authScheme: { type: 'http', scheme: 'bearer' } }
  if (isSingle && !isCompatible(config, scheme)) return undefined
  if (authScheme) return { ...config, authScheme }
  if (provider !== undefined) return { ...config, provider }
  return scheme && { ...config, authScheme: scheme }
}

/** A token that the developer got elsewhere. How it was issued does not matter, whatever flows the document lists. */
function isBearerToken({ rawAuthCredential }: AuthConfig): boolean {
  return rawAuthCredential?.authType === 'http' && rawAuthCredential.http?.scheme === 'bearer'
}

function isCompatible(
  { authScheme, provider, rawAuthCredential }: AuthConfig,
  scheme: AuthScheme | undefined,
): boolean {
  if (!scheme) return authScheme !== undefined && kindOfScheme(authScheme) === 'bearer'
  if (authScheme?.type === 'apiKey')
    return scheme.type === 'apiKey' && scheme.in === authScheme.in && scheme.name === authScheme.name
  if (authScheme) return kindOfScheme(authScheme) === kindOfScheme(scheme)
  if (provider !== undefined) return kindOfScheme(scheme) === 'bearer'
  if (rawAuthCredential?.http && scheme.type === 'http') return rawAuthCredential.http.scheme === scheme.scheme
  return rawAuthCredential === undefined || rawAuthCredential.authType === scheme.type
}

function kindOfScheme(scheme: AuthScheme): 'apiKey' | 'basic' | 'bearer' {
  if (scheme.type === 'apiKey') return 'apiKey'
  return scheme.type === 'http' && scheme.scheme === 'basic' ? 'basic' : 'bearer'
}

function listed(names: readonly string[]): string {
  return names.length ? names.map((name) => `"${name}"`).join(', ') : 'no security schemes'
}
