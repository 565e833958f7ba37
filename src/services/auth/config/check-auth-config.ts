import { closestNames } from '../../../core/base/closest-names.ts'
import { kindOf } from '../../../core/base/kind-of.ts'
import type { AuthConfig, AuthCredential, AuthScheme } from '../../../core/content/auth.ts'
import { checkOptions, name, type OptionRules, type Rule, record } from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { isReservedKey, RESERVED_PREFIXES } from '../auth-records.ts'
import { checkAuthCredential } from './check-auth-credential.ts'
import { checkAuthScheme, scopeList } from './check-auth-scheme.ts'
import { checkCredentialFits } from './check-credential-fits.ts'
import { findProvider, PROVIDER_NAMES, schemeOfProvider } from './providers.ts'

/** A valid configuration: the endpoints of its provider are filled in. */
export interface CheckedAuthConfig extends AuthConfig {
  /** How the API authenticates its callers. */
  readonly authScheme: AuthScheme
}

const MAX_KEY_LENGTH = 256

const credentialKey: Rule = {
  expects: `a string of 1 to ${MAX_KEY_LENGTH} characters that does not start with ${RESERVED_PREFIXES}`,
  accepts: (value) =>
    typeof value === 'string' && value !== '' && value.length <= MAX_KEY_LENGTH && !isReservedKey(value),
}

const resource: Rule = {
  expects: 'an absolute URI without a fragment',
  accepts: (value) => typeof value === 'string' && URL.canParse(value) && new URL(value).hash === '',
  hint: () => 'Set it to the identifier of the API at the authorization server, usually its URL.',
}

const CONFIG_RULES: OptionRules<AuthConfig> = {
  authScheme: record,
  provider: name,
  scopes: scopeList,
  requiredScopes: scopeList,
  resource,
  rawAuthCredential: record,
  exchangedAuthCredential: record,
  credentialKey,
}

/**
 * Checks a configuration and fills in the endpoints of its provider. Throws INVALID_CONFIG with what to change. `owner`
 * names the tool or toolset in the error.
 */
export function checkAuthConfig(config: AuthConfig, owner: string): CheckedAuthConfig {
  const what = `${owner}: authConfig`
  checkOptions(what, config, CONFIG_RULES)
  const authScheme = config.authScheme ?? schemeByProvider(what, config.provider)
  checkAuthScheme(`${what}.authScheme`, authScheme)
  const { rawAuthCredential, exchangedAuthCredential } = config
  if (rawAuthCredential) checkAuthCredential(`${what}.rawAuthCredential`, rawAuthCredential)
  if (exchangedAuthCredential) checkAuthCredential(`${what}.exchangedAuthCredential`, exchangedAuthCredential)
  checkCredentialFits(what, authScheme, config)
  return {
    ...config,
    authScheme,
    ...(rawAuthCredential && { rawAuthCredential: plainCredential(rawAuthCredential) }),
    ...(exchangedAuthCredential && { exchangedAuthCredential: plainCredential(exchangedAuthCredential) }),
  }
}

/** A copy for those who use the credential: tools hide theirs from `JSON.stringify`. */
function plainCredential(credential: AuthCredential): AuthCredential {
  return { ...credential }
}

function schemeByProvider(what: string, provider: string | undefined): AuthScheme {
  if (provider === undefined) {
    const cure = `Set authScheme, or provider to one of ${PROVIDER_NAMES.join(', ')}.`
    throw new ToolwrightError('INVALID_CONFIG', `${what}: authScheme is missing, got ${kindOf(undefined)}. ${cure}`)
  }
  const found = findProvider(provider)
  if (found) return schemeOfProvider(found)
  const [meant] = closestNames(provider, PROVIDER_NAMES)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${what}: unknown provider "${provider.slice(0, 64)}".${hint} The known providers are ${PROVIDER_NAMES.join(', ')}. ` +
      `For another provider set authScheme: { type: 'openIdConnect', openIdConnectUrl } with the URL of its discovery document.`,
  )
}
