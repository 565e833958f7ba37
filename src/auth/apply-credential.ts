import type { AuthCredential, AuthScheme } from '../content/auth.ts'

/**
 * Adds a credential to a request: a header, a query parameter or a cookie. Throws if the request goes to another origin than
 * `origin`. The request follows no redirect.
 */
export function applyCredential(
  _request: Request,
  _options: { authScheme: AuthScheme; credential: AuthCredential; origin: string },
): Request {
  throw new Error('not implemented')
}
