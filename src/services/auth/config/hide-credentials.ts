import { isRecord } from '../../../core/base/json.ts'
import { HIDDEN, hiddenView } from '../../../core/base/show-as.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import { shownScheme } from './client-auth-config.ts'

/** Members of credentials that are no secrets. All others are hidden, also those that are not known. */
const SHOWN: ReadonlySet<string> = new Set([
  'authType',
  'scheme',
  'clientId',
  'tokenEndpointAuthMethod',
  'issuer',
  'redirectUri',
  'expiresAt',
  'scopes',
  'clientEmail',
  'tokenUri',
  'targetAudience',
])

/** The views that were made, so that a configuration has one view. */
const views: WeakMap<object, AuthConfig> = new WeakMap()

/**
 * The configuration, as tools and toolsets keep it: its secrets can be read, and are not printed by `console.log`, `util.inspect`
 * and `JSON.stringify`.
 */
export function hideCredentials(config: AuthConfig): AuthConfig {
  if (!isRecord(config)) return config // the check of the tool reports it
  let view = views.get(config)
  if (!view) {
    view = withHiddenCredentials(config)
    views.set(config, view)
    views.set(view, view)
  }
  return view
}

/** The same for one configuration, a list of them, or none. */
export function hideAllCredentials<T extends AuthConfig | readonly AuthConfig[] | undefined>(configs: T): T {
  const hidden = Array.isArray(configs)
    ? configs.map(hideCredentials)
    : configs && hideCredentials(configs as AuthConfig)
  return hidden as T // the cast holds: a list stays a list
}

function withHiddenCredentials(config: AuthConfig): AuthConfig {
  const view = hiddenView(config, 'AuthConfig', shownConfig)
  for (const member of ['rawAuthCredential', 'exchangedAuthCredential'] as const) {
    // made when it is read: a spread of the configuration hides its credentials, too
    const get = (): unknown => {
      const credential = config[member]
      return isRecord(credential) ? hiddenView(credential, 'AuthCredential', maskOf) : credential
    }
    if (config[member] !== undefined) Object.defineProperty(view, member, { enumerable: true, configurable: true, get })
  }
  return view
}

function shownConfig({ authScheme, rawAuthCredential, exchangedAuthCredential, ...shown }: AuthConfig): object {
  return {
    ...(isRecord(authScheme) && { authScheme: shownScheme(authScheme) }),
    ...shown,
    ...(isRecord(rawAuthCredential) && { rawAuthCredential: maskOf(rawAuthCredential) }),
    ...(isRecord(exchangedAuthCredential) && { exchangedAuthCredential: maskOf(exchangedAuthCredential) }),
  }
}

/** The credential with a mark in place of each secret. */
function maskOf(credential: object): object {
  return Object.fromEntries(Object.entries(credential).map(([name, value]) => [name, maskMember(name, value)]))
}

function maskMember(name: string, value: unknown): unknown {
  if (value === undefined || SHOWN.has(name)) return value
  return isRecord(value) && name !== 'custom' ? maskOf(value) : HIDDEN
}
