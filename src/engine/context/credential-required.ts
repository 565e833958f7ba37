import type { AuthConfig } from '../../core/content/auth.ts'
import { hideCredentials } from '../../services/auth/config/hide-credentials.ts'

/**
 * Thrown by `listTools` of a toolset that learns from its server that it needs a credential. The framework resolves the
 * credential, or pauses the run for the consent of the user, and lists again with `context.authCredential`.
 */
export class CredentialRequired extends Error {
  /** `CredentialRequired`. */
  override readonly name: string = 'CredentialRequired'
  /** The credential that is needed. */
  readonly authConfig: AuthConfig
  constructor(authConfig: AuthConfig, message = 'A credential is required to list the tools.') {
    super(message)
    this.authConfig = hideCredentials(authConfig) // errors are logged
  }
}
