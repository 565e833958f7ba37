// Removes secrets from error messages, causes included.
import { messageOf } from '../../../core/error/error.ts'
import { hideSecrets } from '../../../core/error/hide-secrets.ts'

/** The text without the given secrets and without anything that looks like a secret. */
export function hideKnownSecrets(text: string, secrets: readonly string[]): string {
  let hidden = text
  for (const secret of secrets) hidden = hidden.replaceAll(secret, '[hidden]')
  return hideSecrets(hidden)
}

const MAX_CAUSES = 4

/** A copy of an error and its causes without secrets. Other fields are dropped: they can contain the request headers. */
export function copyWithoutSecrets(thrown: unknown, secrets: readonly string[], depth = 0): Error {
  const cause = new Error(hideKnownSecrets(messageOf(thrown), secrets))
  if (!(thrown instanceof Error)) return cause
  cause.name = thrown.name
  if (thrown.stack) cause.stack = hideKnownSecrets(thrown.stack, secrets)
  if (thrown.cause !== undefined && depth < MAX_CAUSES)
    cause.cause = copyWithoutSecrets(thrown.cause, secrets, depth + 1)
  return cause
}
