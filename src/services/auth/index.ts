/**
 * Credentials: apply one to a request, and let a user consent without a runner.
 *
 * @module
 */

export { type ApplyCredentialOptions, applyCredential } from './apply-credential.ts'
export { AuthError } from './auth-error.ts'
export {
  type BeginConsentOptions,
  beginConsent,
  type CompleteConsentOptions,
  type ConsentFlowOptions,
  completeConsent,
} from './consent/begin-consent.ts'
export { setOAuthLibrary } from './tokens/oauth-library.ts'
