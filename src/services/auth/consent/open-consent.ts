// The verifier and `state` of a consent are stored in the credential service under `consent:<id>`, never in the log.
import type { AuthConfig } from '../../../core/content/auth.ts'
import { AuthError } from '../auth-error.ts'
import { failureText, reportProblem } from '../auth-failure.ts'
import { listConsents } from '../auth-records.ts'
import type { AuthServices } from '../auth-services.ts'
import type { CheckedAuthConfig } from '../config/check-auth-config.ts'
import { clientAuthConfig } from '../config/client-auth-config.ts'
import { canAskUser } from '../stored/token-sources.ts'
import { createAuthorizationRequest } from '../tokens/oauth-tokens.ts'
import { forgetConsent, loadConsent, saveConsent } from './consent-record.ts'

/** How long an authorization URL can be answered, in milliseconds. */
export const CONSENT_MS: number = 10 * 60 * 1000

/**
 * Starts a consent. Returns the configuration for the client: the authorization URL and `state`, without secrets. Throws
 * AuthError if discovery fails, STORAGE if the consent cannot be stored.
 */
export async function openConsent(
  services: AuthServices,
  consent: { id: string; key: string; config: CheckedAuthConfig; redirectUri?: string | undefined },
): Promise<AuthConfig> {
  const { id, key, config } = consent
  if (!canAskUser(config)) {
    throw new AuthError(
      `A user cannot consent to a scheme of type ${config.authScheme.type}. Use oauth2 with an authorizationCode flow, or openIdConnect.`,
    )
  }
  const redirectUri = consent.redirectUri ?? config.rawAuthCredential?.oauth2?.redirectUri
  const request = await createAuthorizationRequest(services, config, redirectUri)
  const createdAt = services.ports.now()
  const { state, codeVerifier } = request
  await forgetLostConsents(services)
  await saveConsent(services, {
    id,
    consent: {
      type: 'open',
      state,
      codeVerifier,
      redirectUri: request.redirectUri,
      key,
      config,
      createdAt,
      expiresAt: createdAt + CONSENT_MS,
    },
  })
  return clientAuthConfig(config, { key, request })
}

/** No request waits that long for its answer. */
const LOST_MS = CONSENT_MS + 24 * 60 * 60 * 1000

/** How many consents are looked at. A user with more is cleaned up by several consents. */
const MAX_LOOKS = 20

/** Deletes consents that no answer completes any more: their process died before it recorded the request, or the session is gone. */
async function forgetLostConsents(services: AuthServices): Promise<void> {
  try {
    for (const id of (await listConsents(services)).slice(0, MAX_LOOKS)) {
      const { consent } = (await loadConsent(services, id)) ?? {}
      const since = consent?.type === 'open' ? consent.createdAt : consent?.usedAt
      if (since !== undefined && services.ports.now() - since >= LOST_MS) await forgetConsent(services, id)
    }
  } catch (error) {
    reportProblem(services, `Consents that were never completed were not deleted. ${failureText(error)}`)
  }
}
