import { hideSecrets } from '../../../core/error/hide-secrets.ts'

const MAX_MESSAGE_LENGTH = 500

/** A provider's message, shortened and without anything that looks like an API key. */
export function cleanMessage(message: string): string {
  const masked = hideSecrets(message)
  return masked.length > MAX_MESSAGE_LENGTH ? `${masked.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}...` : masked
}
