// Secrets are in no message, also not in that of a cause.
import { messageOf } from '../../error/error.ts'
import { hideSecrets } from '../../error/secrets.ts'

/** The text without the secrets that are known and those that look like one. */
export function hideKnownSecrets(text: string, secrets: readonly string[]): string {
  let hidden = text
  for (const secret of secrets) hidden = hidden.replaceAll(secret, '[hidden]')
  return hideSecrets(hidden)
}

const MAX_CAUSES = 4

/** The error behind an error, without its secrets: request objects hang on it, headers and all. */
export function copyWithoutSecrets(thrown: unknown, secrets: readonly string[], depth = 0): Error {
  const cause = new Error(hideKnownSecrets(messageOf(thrown), secrets))
  if (!(thrown instanceof Error)) return cause
  cause.name = thrown.name
  if (thrown.stack) cause.stack = hideKnownSecrets(thrown.stack, secrets)
  if (thrown.cause !== undefined && depth < MAX_CAUSES) cause.cause = copyWithoutSecrets(thrown.cause, secrets, depth + 1)
  return cause
}
