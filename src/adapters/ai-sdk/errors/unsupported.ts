// Detects which parts of a request a provider does not support. Providers do not declare this, so it is read from their
// errors and warnings.
import { isRecord } from '../../../core/base/json.ts'
import { providerMessage } from './to-ai-sdk-error.ts'

/** A part of a request that some providers cannot send. */
type OptionalFeature = 'schema' | 'media'

/**
 * Thrown when the provider cannot send a part of the request. `fromAiSdk()` then writes this part in another form and
 * sends the request again.
 */
export class UnsupportedByProvider extends Error {
  /** The part that the provider cannot send. */
  readonly feature: OptionalFeature
  constructor(feature: OptionalFeature) {
    super(`The provider does not support the ${feature} of the request.`)
    this.feature = feature
  }
}

/** Returns the part that an error, or the cause of the error, reports as unsupported. */
export function unsupportedFeature(thrown: unknown): OptionalFeature | undefined {
  if (thrown instanceof UnsupportedByProvider) return thrown.feature
  if (!(thrown instanceof Error)) return undefined
  if (thrown.cause instanceof UnsupportedByProvider) return thrown.cause.feature
  return thrown.name === 'AI_UnsupportedFunctionalityError' ? 'media' : undefined
}

/**
 * Makes the content of a tool result throw when it is encoded as JSON. A provider that does not support media in tool
 * results encodes the whole content as text, base64 bytes included. The thrown error detects this before the request is
 * sent.
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
