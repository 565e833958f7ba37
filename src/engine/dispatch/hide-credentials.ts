import { createSecretMask } from '../../core/base/secret-mask.ts'
import { secretsOfCredential } from '../../core/content/credential-secrets.ts'
import { messageOf } from '../../core/error/error.ts'
import type { CallContext } from '../context/call-context.ts'

/** Shorter texts would match everywhere. */
const MIN_LENGTH = 4

/** Hides the credentials of a call in a text. Errors of HTTP clients often hold the address or the headers of their request. */
export function hideCredentials({ authCredentials }: CallContext, text: string): string {
  if (authCredentials.length === 0) return text
  return createSecretMask(authCredentials.flatMap(secretsOfCredential), { minLength: MIN_LENGTH }).text(text)
}

/** The message of an error that the model, the log and clients get. */
export function shownMessage(context: CallContext, error: unknown): string {
  return hideCredentials(context, messageOf(error))
}
