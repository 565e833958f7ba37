// Which credentials an operation gets: the first of its alternatives for which the developer configured every scheme.
import { checkAuthConfig } from '../../auth/config/check-auth-config.ts'
import type { JsonObject } from '../../base/json.ts'
import type { AuthConfig, AuthScheme } from '../../content/auth.ts'
import type { Operation, SecurityRequirement } from '../operation.ts'
import { type AuthOption, configFor, isAuthConfig } from './auth-option.ts'
import { toAuthScheme } from './to-auth-scheme.ts'

/** The credentials of an operation: `configs` are all needed, and none means an anonymous call. */
export type Security =
  | { readonly type: 'usable'; readonly configs: readonly SecurityConfig[] }
  | { readonly type: 'missing'; readonly schemes: readonly string[] }

/** A configuration with the scheme that places its credential in the request. */
export interface SecurityConfig {
  /** How the credential is sent. */
  readonly authScheme: AuthScheme
  /** What the credential gate resolves. */
  readonly config: AuthConfig
}

/** What `chooseSecurity` needs to know of the toolset. */
export interface SecurityContext {
  /** The option of the developer. */
  readonly auth: AuthOption | undefined
  /** The security schemes of the document. */
  readonly schemes: ReadonlyMap<string, JsonObject>
  /** All operations of the document. */
  readonly operations: readonly Operation[]
  /** Names the toolset in errors. */
  readonly what: string
}

/** Chooses among the alternatives of an operation. An anonymous one is used when no configured one exists. */
export function chooseSecurity({ security }: Pick<Operation, 'security'>, context: SecurityContext): Security {
  if (security.length === 0) return { type: 'usable', configs: configsWithoutSchemes(context) }
  for (const alternative of security) {
    if (alternative.length === 0) continue
    const configs = configsOf(alternative, context)
    if (configs) return { type: 'usable', configs }
  }
  if (security.some(({ length }) => length === 0)) return { type: 'usable', configs: [] }
  return { type: 'missing', schemes: (security[0] ?? []).map(({ scheme }) => scheme) }
}

/** A document without any security schemes says nothing about credentials: then a configuration with a scheme applies. */
function configsWithoutSchemes({ auth, schemes, what }: SecurityContext): SecurityConfig[] {
  if (!auth || schemes.size > 0 || !isAuthConfig(auth) || !(auth.authScheme || auth.provider)) return []
  const config = checkAuthConfig(auth, what)
  return [{ authScheme: config.authScheme, config }]
}

/** The configurations of one alternative; undefined if one of its schemes has none. */
function configsOf(
  alternative: readonly SecurityRequirement[],
  context: SecurityContext,
): readonly SecurityConfig[] | undefined {
  const { auth, schemes, what } = context
  // one secret must not be sent in two places, of which one may belong to another scheme
  if (alternative.length > 1 && auth && isAuthConfig(auth)) return undefined
  const configs: SecurityConfig[] = []
  for (const requirement of alternative) {
    const scheme = schemes.get(requirement.scheme)
    const found = configFor(auth, requirement.scheme, scheme && toAuthScheme(scheme))
    if (!found) return undefined
    const scopes = scopesOf(found, requirement, context)
    const config = checkAuthConfig(
      scopes.length ? { ...found, scopes } : found,
      `${what}, scheme "${requirement.scheme}"`,
    )
    configs.push({ authScheme: config.authScheme, config })
  }
  return configs
}

/**
 * The scopes of the developer and those of the operation. With a `credentialKey` all operations share one token, so their
 * scopes are requested together.
 */
function scopesOf(config: AuthConfig, requirement: SecurityRequirement, { operations }: SecurityContext): string[] {
  const shared =
    config.credentialKey === undefined
      ? []
      : operations.flatMap(({ security }) => security.flat().filter(({ scheme }) => scheme === requirement.scheme))
  const wanted = [requirement, ...shared].flatMap(({ scopes }) => scopes)
  const own = config.scopes ?? (config.authScheme?.type === 'openIdConnect' ? config.authScheme.scopes : undefined)
  return [...new Set([...(own ?? []), ...wanted])].filter((scope) => /^[!-~]+$/.test(scope))
}
