// What a provider turns out not to carry. Providers do not declare it, so it is learned from what they do.
import { isRecord } from '../../base/json.ts'
import { saidBy } from './to-ai-sdk-error.ts'

/** The provider cannot carry a part of the request: it is written in another way and sent again. */
export class Unfit extends Error {
  readonly what: 'schema' | 'media'
  constructor(what: 'schema' | 'media') {
    super(`The provider does not carry the ${what} of the request.`)
    this.what = what
  }
}

/** Is it, or was it caused by, something the provider does not carry? */
export function unfitIn(thrown: unknown): Unfit['what'] | undefined {
  if (thrown instanceof Unfit) return thrown.what
  if (!(thrown instanceof Error)) return undefined
  if (thrown.cause instanceof Unfit) return thrown.cause.what
  return thrown.name === 'AI_UnsupportedFunctionalityError' ? 'media' : undefined
}

/**
 * Content of a tool result that refuses to be written as JSON. A provider that has no media in results writes the
 * whole content as JSON text, bytes in base64 included; it is found out before anything is sent.
 */
export function refusingJson(content: object[]): object[] {
  const toJSON = (): never => {
    throw new Unfit('media')
  }
  return Object.defineProperty(content, 'toJSON', { value: toJSON })
}

/** Did the provider refuse a request because of its response schema, or because it takes none? */
export function refusesSchema(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !('statusCode' in thrown)) return false
  const isRefusal = thrown.statusCode === 400 || thrown.statusCode === 422
  return isRefusal && /response.?(format|schema)|json.?schema|output.?(format|schema|config)/i.test(saidBy(thrown))
}

/** Does a provider warn that it sends no response schema? `unsupported-setting` is what version 2 calls it. */
export function lacksSchema(warnings: unknown): boolean {
  if (!Array.isArray(warnings)) return false
  return warnings.some((one) => {
    if (!isRecord(one) || (one.type !== 'unsupported' && one.type !== 'unsupported-setting')) return false
    return /^responseFormat\b/.test(String(one.feature ?? one.setting))
  })
}
