// The consent of a user: from the authorization URL to the stored tokens. The verifier and `state` are stored in the
// credential service under `consent:<id>`, never in the log.
import type { JsonObject } from '../base/json.ts'
import type { AuthConfig } from '../content/auth.ts'
import type { AuthServices } from './auth-services.ts'
import type { CheckedAuthConfig } from './check-auth-config.ts'

/** How long an authorization URL can be answered, in milliseconds. */
export const CONSENT_MS: number = 10 * 60 * 1000

/** Starts a consent. Returns the configuration for the client: the authorization URL and `state`, without secrets. */
export function openConsent(
  _services: AuthServices,
  _consent: { id: string; key: string; config: CheckedAuthConfig; redirectUri?: string | undefined },
): Promise<AuthConfig> {
  throw new Error('not implemented')
}

/** What an answer to a consent may say. Everything else in it is ignored. */
export interface ConsentAnswer {
  readonly code: string | undefined
  readonly state: string | undefined
  readonly iss: string | undefined
  /** `error` of the callback: the user declined, or the server failed. */
  readonly error: string | undefined
  readonly redirectUri: string | undefined
}

/** Reads `{ authResponseUri, redirectUri? }`, `{ code, state, redirectUri? }`, or the AuthConfig that adk-web sends back. Undefined for anything else. */
export function readConsentAnswer(_response: JsonObject): ConsentAnswer | undefined {
  throw new Error('not implemented')
}

/** The outcome of an answer whose `state` matches. */
export type ConsentOutcome =
  | { readonly status: 'stored'; readonly key: string }
  | { readonly status: 'failed'; readonly reason: string }

/**
 * Completes a consent: compares `state`, checks the redirect URI and `iss`, exchanges the code and stores the tokens. The
 * state is used once. Throws NOT_FOUND for an unknown consent, INVALID_REQUEST for a wrong `state` or redirect URI (the
 * consent stays open), EXPIRED after 10 minutes. The same answer again returns the same outcome.
 */
export function completeOpenConsent(
  _services: AuthServices,
  _consent: { id: string; answer: ConsentAnswer; allowedRedirectUris: readonly string[] },
): Promise<ConsentOutcome> {
  throw new Error('not implemented')
}

/** Deletes what is stored about a consent, after its answer is recorded. */
export function forgetConsent(_services: AuthServices, _id: string): Promise<void> {
  throw new Error('not implemented')
}
