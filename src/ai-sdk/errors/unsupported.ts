// Detects what a provider does not support. Providers do not declare it, so it is learned from their errors and warnings.
import { isRecord } from '../../base/json.ts'
import { providerMessage } from './to-ai-sdk-error.ts'

/** A part of a request that some providers cannot send. */
type OptionalFeature = 'schema' | 'media'

/** The provider cannot send a part of the request. The request is written differently and sent again. */
export class UnsupportedByProvider extends Error {
  /** What the provider cannot send. */
  readonly feature: OptionalFeature
  constructor(feature: OptionalFeature) {
    super(`The provider does not support the ${feature} of the request.`)
    this.feature = feature
  }
}

/** The feature an error says is unsupported, directly or in its cause. */
export function unsupportedFeature(thrown: unknown): OptionalFeature | undefined {
  if (thrown instanceof UnsupportedByProvider) return thrown.feature
  if (!(thrown instanceof Error)) return undefined
  if (thrown.cause instanceof UnsupportedByProvider) return thrown.cause.feature
  return thrown.name === 'AI_UnsupportedFunctionalityError' ? 'media' : undefined
}

/**
 * Makes the content of a tool result throw when it is encoded as JSON. A provider without media in tool results would
 * encode the whole content as text, base64 bytes included. The error shows this before anything is sent.
 */
export function forbidJsonEncoding(content: object[]): object[] {
  const toJSON = (): never => {
    throw new UnsupportedByProvider('media')
  }
  return Object.defineProperty(content, 'toJSON', { value: toJSON })
}

/** Whether the provider rejected a request because of its response schema. */
export function isSchemaRejection(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return false
  const isRejection = thrown.statusCode === 400 || thrown.statusCode === 422
  const message = providerMessage(thrown)
  return isRejection && /response.?(format|schema)|json.?schema|output.?(format|schema|config)/i.test(message)
}

/** Whether the provider warns that it ignores the response schema. Version 2 names the warning `unsupported-setting`. */
export function hasSchemaWarning(warnings: unknown): boolean {
  if (!Array.isArray(warnings)) return false
  return warnings.some((one) => {
    if (!isRecord(one) || (one.type !== 'unsupported' && one.type !== 'unsupported-setting')) return false
    return /^responseFormat\b/.test(String(one.feature ?? one.setting))
  })
}
