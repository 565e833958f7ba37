import type { Ports } from '../../core/base/ports.ts'
import type { AuthConfig, AuthCredential } from '../../core/content/auth.ts'
import type { CredentialService } from '../credential/service.ts'

/** What resolving a credential needs: the user, the store, clock and HTTP. */
export interface AuthServices {
  /** The app. */
  readonly appName: string
  /** The user whose credentials are used. */
  readonly userId: string
  /** Stores tokens, open consents and refresh locks. */
  readonly credentialService: CredentialService
  /** Clock, timers, ids and randomness. */
  readonly ports: Pick<Ports, 'now' | 'setTimer' | 'newId' | 'random'>
  /** Sends requests to token endpoints. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** Exchangers of custom schemes, by the name of the scheme. */
  readonly exchangers?: Exchangers | undefined
  /** Was the user deleted? Asked after a save, which is then undone: the deletion may have looked before. */
  isUserDeleted?(): Promise<boolean>
  /** Called with each failed exchange or refresh, for the operator. The text contains no secret. */
  report?(problem: string): void
}

/** Exchangers of custom schemes, by the name of the scheme. */
export interface Exchangers {
  readonly [scheme: string]: Exchanger
}

/** Makes the credential that the API accepts from the configured one, for a scheme `{ type: 'custom', name }`. */
export type Exchanger = (options: {
  /** The configuration of the tool, with its raw credential. */
  readonly authConfig: AuthConfig
  /** The credential that was stored last, if there is one. */
  readonly stored: AuthCredential | undefined
  /** The user whose credential is made. */
  readonly userId: string
  /** Sends requests. */
  readonly fetch: typeof fetch
}) => Promise<AuthCredential>
