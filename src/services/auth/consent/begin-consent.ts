// The consent of a user without a runner: for a web application with its own pages.
import { canonicalJson } from '../../../core/base/json.ts'
import { type Ports, withSystemPorts } from '../../../core/base/ports.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import {
  anything,
  callback,
  checkOptions,
  name,
  type OptionRules,
  objectWith,
  record,
} from '../../../core/error/check-options.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { CredentialService } from '../../credential/service.ts'
import { AuthError } from '../auth-error.ts'
import { quoteKey } from '../auth-failure.ts'
import { isReservedKey } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import { type CheckedAuthConfig, checkAuthConfig } from '../config/check-auth-config.ts'
import { checkRequired } from '../config/check-auth-scheme.ts'
import { canAskUser } from '../stored/token-sources.ts'
import { completeOpenConsent } from './complete-open-consent.ts'
import { openConsent } from './open-consent.ts'
import { readConsentAnswer } from './read-consent-answer.ts'

/** The options that `beginConsent()` and `completeConsent()` share. */
export interface ConsentFlowOptions {
  /** Stores the open consent and the tokens. */
  readonly credentialService: CredentialService
  /** The app. */
  readonly appName: string
  /** The user who consents: the signed-in user of your application. */
  readonly userId: string
  /** The authentication of the tool: `oauth2` with an authorization code flow, `openIdConnect` or a `provider`. */
  readonly authConfig: AuthConfig
  /** Sends requests to the authorization server. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Clock, timers and ids. */
  readonly ports?: Partial<Ports> | undefined
}

/** Options of `beginConsent()`. */
export interface BeginConsentOptions extends ConsentFlowOptions {
  /** The key under which the tokens are stored. */
  readonly key: string
  /** Where the authorization server sends the user. Default: `redirectUri` of the raw credential. */
  readonly redirectUri?: string | undefined
}

/** Options of `completeConsent()`. */
export interface CompleteConsentOptions extends ConsentFlowOptions {
  /** The id that `beginConsent()` returned. */
  readonly flowId: string
  /** The whole URL of the callback, with its query. */
  readonly authResponseUri: string
}

/**
 * Starts the consent of a user. Send the user to `authUri`, and keep `flowId` in the user's session.
 *
 * @example
 * const { authUri, flowId } = await beginConsent({ credentialService, appName: 'shop', userId, key: 'mail', authConfig })
 */
export async function beginConsent(options: BeginConsentOptions): Promise<{ authUri: string; flowId: string }> {
  checkOptions('beginConsent()', options, {
    ...FLOW_RULES,
    key: name,
    redirectUri: name,
  } satisfies OptionRules<BeginConsentOptions>)
  checkRequired('beginConsent()', options, [...FLOW_OPTIONS, 'key'])
  const { key, redirectUri } = options
  if (isReservedKey(key)) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `beginConsent(): the key ${quoteKey(key)} has a reserved prefix. Use another key.`,
    )
  }
  const config = checkFlowConfig(options, 'beginConsent()')
  const services = servicesOf(options)
  const flowId = services.ports.newId()
  const shown = await openConsent(services, { id: flowId, key, config, redirectUri })
  return { authUri: shown.exchangedAuthCredential?.oauth2?.authUri ?? '', flowId }
}

/**
 * Completes the consent of a user: checks the callback, exchanges its code and stores the tokens under the key. Throws
 * AuthError if the user declined or the exchange failed, and ToolwrightError for a callback that does not belong to the flow.
 *
 * @example
 * const { key } = await completeConsent({ credentialService, appName: 'shop', userId, authConfig, flowId, authResponseUri: request.url })
 */
export async function completeConsent(options: CompleteConsentOptions): Promise<{ key: string }> {
  checkOptions('completeConsent()', options, {
    ...FLOW_RULES,
    flowId: name,
    authResponseUri: name,
  } satisfies OptionRules<CompleteConsentOptions>)
  checkRequired('completeConsent()', options, [...FLOW_OPTIONS, 'flowId', 'authResponseUri'])
  const config = checkFlowConfig(options, 'completeConsent()')
  const answer = readConsentAnswer({ authResponseUri: options.authResponseUri })
  if (!answer) {
    throw new ToolwrightError(
      'INVALID_REQUEST',
      'completeConsent(): authResponseUri is no callback URL with a code or an error.',
    )
  }
  const chooseConfig = (stored: CheckedAuthConfig): CheckedAuthConfig => {
    if (clientOf(stored) === clientOf(config)) return config
    throw new ToolwrightError(
      'INVALID_REQUEST',
      'completeConsent(): authConfig has other endpoints or another client than the one of beginConsent(). Pass the same authConfig.',
    )
  }
  const outcome = await completeOpenConsent(servicesOf(options), {
    id: options.flowId,
    answer,
    allowedRedirectUris: [],
    chooseConfig,
  })
  if (outcome.status === 'failed') throw new AuthError(outcome.reason, { isFinal: true })
  return { key: outcome.key }
}

const FLOW_OPTIONS = ['credentialService', 'appName', 'userId', 'authConfig']

const FLOW_RULES: OptionRules<ConsentFlowOptions> = {
  credentialService: objectWith('load', 'save', 'delete'),
  appName: name,
  userId: name,
  authConfig: record,
  fetch: callback,
  ports: anything,
}

function checkFlowConfig({ authConfig }: ConsentFlowOptions, owner: string): CheckedAuthConfig {
  const config = checkAuthConfig(authConfig, owner)
  if (canAskUser(config)) return config
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${owner}: a user cannot consent to a scheme of type ${config.authScheme.type}. Use oauth2 with an authorizationCode flow, openIdConnect or a provider.`,
  )
}

function servicesOf({ appName, userId, credentialService, fetch, ports }: ConsentFlowOptions): AuthServices {
  return { appName, userId, credentialService, fetch, ports: withSystemPorts(ports) }
}

/** The endpoints and the client of a configuration, to compare. */
function clientOf({ authScheme, rawAuthCredential }: CheckedAuthConfig): string {
  return canonicalJson([authScheme, rawAuthCredential?.oauth2?.clientId ?? null])
}
