import { closestNames } from '../../base/closest-names.ts'
import { isRecord } from '../../base/json.ts'
import type { AuthConfig, AuthScheme } from '../../content/auth.ts'
import { ToolwrightError } from '../../error/error.ts'

/** The option `auth`: one configuration for the whole API, or one for each security scheme of the document. */
export type AuthOption = AuthConfig | { readonly [scheme: string]: AuthConfig }

/** Is it one configuration for the whole API? */
export function isAuthConfig(auth: AuthOption): auth is AuthConfig {
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
  if (auth === undefined || isAuthConfig(auth)) return
  for (const [name, config] of Object.entries(auth)) {
    if (!isRecord(config)) throw new ToolwrightError('INVALID_CONFIG', `${what}: auth.${name} must be an AuthConfig.`)
    if (known.has(name)) continue
    const [meant] = closestNames(name, [...known.keys()])
    const hint = meant === undefined ? `It has ${listed([...known.keys()])}.` : `Did you mean "${meant}"?`
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `${what}: auth names the security scheme "${name}", which the document does not have. ${hint}`,
    )
  }
}

/**
 * The configuration for one security scheme of the document, with its `authScheme`; undefined if there is none. A single
 * configuration is used for schemes of its own type. OAuth tokens and service accounts fit every scheme with bearer tokens.
 */
export function configFor(
  auth: AuthOption | undefined,
  name: string,
  scheme: AuthScheme | undefined,
): (AuthConfig & { readonly authScheme: AuthScheme }) | (AuthConfig & { readonly provider: string }) | undefined {
  if (auth === undefined) return undefined
  const isSingle = isAuthConfig(auth)
  const config = isSingle ? auth : Object.hasOwn(auth, name) ? auth[name] : undefined
  if (!config) return undefined
  const { authScheme, provider } = config
  if (isSingle && !isCompatible(config, scheme)) return undefined
  if (authScheme) return { ...config, authScheme }
  if (provider !== undefined) return { ...config, provider }
  return scheme && { ...config, authScheme: scheme }
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
