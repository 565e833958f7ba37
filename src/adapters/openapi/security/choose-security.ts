// Which credentials an operation gets: the first of its alternatives for which the developer configured every scheme.

import type { JsonObject } from '../../../core/base/json.ts'
import type { AuthConfig, AuthScheme } from '../../../core/content/auth.ts'
import { checkAuthConfig } from '../../../services/auth/config/check-auth-config.ts'
import type { ApiOperation, SecurityRequirement } from '../operation.ts'
import { type AuthOption, configFor, isAuthConfig } from './auth-option.ts'
import { type HeaderNeed, headerNeedOf } from './header-credentials.ts'
import { describeMissing } from './missing-credentials.ts'
import { toAuthScheme } from './to-auth-scheme.ts'

/** The credentials of an operation: `configs` are all needed, and none means an anonymous call. */
export type Security =
  | { readonly type: 'usable'; readonly configs: readonly SecurityConfig[] }
  /** Usable if the option `headers` returns the headers of one of the alternatives. */
  | {
      readonly type: 'headers'
      readonly configs: readonly SecurityConfig[]
      readonly alternatives: readonly (readonly HeaderNeed[])[]
      readonly problem: string
    }
  /** `problem` is the end of a sentence about the operation. */
  | { readonly type: 'missing'; readonly problem: string }

/** A configuration with the scheme that places its credential in the request. */
export interface SecurityConfig {
  /** How the credential is sent. */
  readonly authScheme: AuthScheme
  /** What the credential gate resolves. */
  readonly config: AuthConfig
}

/** What `chooseSecurity` needs to know of the toolset. */
interface SecurityContext {
  /** The option of the developer. */
  readonly auth: AuthOption | undefined
  /** Does the developer set headers? */
  readonly hasHeaders: boolean
  /** The security schemes of the document. */
  readonly schemes: ReadonlyMap<string, JsonObject>
  /** All operations of the document. */
  readonly operations: readonly ApiOperation[]
  /** Names the toolset in errors. */
  readonly what: string
}

/**
 * Chooses among the alternatives of an operation. An anonymous one is used when no configured one exists. Without one, the
 * headers of the developer count, which are known when the operation is called.
 */
export function chooseSecurity({ security }: Pick<ApiOperation, 'security'>, context: SecurityContext): Security {
  if (context.auth === 'anonymous') return { type: 'usable', configs: [] }
  if (security.length === 0) return { type: 'usable', configs: configsWithoutSchemes(context) }
  for (const alternative of security) {
    if (alternative.length === 0) continue
    const configs = configsOf(alternative, context)
    if (configs) return { type: 'usable', configs }
  }
  if (security.some(({ length }) => length === 0)) return { type: 'usable', configs: [] }
  const problem = describeMissing(security, context)
  const candidates = context.hasHeaders ? security.flatMap((one) => withHeaders(one, context) ?? []) : []
  const configured = candidates.find(({ configs }) => configs.length > 0)
  if (configured) return { type: 'headers', configs: configured.configs, alternatives: [configured.needs], problem }
  if (candidates.length === 0) return { type: 'missing', problem }
  return { type: 'headers', configs: [], alternatives: candidates.map(({ needs }) => needs), problem }
}

/** An alternative of which some schemes are configured, and headers can satisfy the others. Undefined if there is one left. */
function withHeaders(
  alternative: readonly SecurityRequirement[],
  context: SecurityContext,
): { readonly configs: readonly SecurityConfig[]; readonly needs: readonly HeaderNeed[] } | undefined {
  const needs: HeaderNeed[] = []
  const configs = alternative.map((requirement) => {
    const config = configOf(requirement, context)
    const need = config ? undefined : headerNeedOf(context.schemes.get(requirement.scheme))
    if (need) needs.push(need)
    return config ?? (need && ('anonymous' as const))
  })
  if (configs.includes(undefined)) return undefined
  const own = configs.filter((one) => one !== undefined && one !== 'anonymous')
  return isSentTwice(own, context) ? undefined : { configs: own, needs }
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
  const configs = alternative.map((requirement) => configOf(requirement, context))
  if (configs.includes(undefined)) return undefined
  const own = configs.filter((one) => one !== undefined && one !== 'anonymous')
  return isSentTwice(own, context) ? undefined : own
}

/** One secret must not be sent in two places, of which one may belong to another scheme. */
function isSentTwice(configs: readonly SecurityConfig[], { auth }: SecurityContext): boolean {
  return configs.length > 1 && auth !== undefined && isAuthConfig(auth)
}

function configOf(
  requirement: SecurityRequirement,
  context: SecurityContext,
): SecurityConfig | 'anonymous' | undefined {
  const given = context.schemes.get(requirement.scheme)
  const scheme = given && toAuthScheme(given)
  const found = configFor(context.auth, requirement.scheme, { scheme, type: given?.type })
  if (!found || found === 'anonymous') return found
  const scopes = found.authScheme?.type === 'http' ? [] : scopesOf(found, requirement, context)
  const config = checkAuthConfig(
    scopes.length ? { ...found, scopes } : found,
    `${context.what}, scheme "${requirement.scheme}"`,
  )
  return { authScheme: config.authScheme, config }
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
