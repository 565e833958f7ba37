import { ToolError } from '../../../core/error/error.ts'
import type { ApiRequest } from '../request/build-request.ts'

/** How many redirects one request follows. */
export const MAX_REDIRECTS = 3

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Servers send these before and after an operation has run. 307 and 308 say that it has not. */
const MAY_HAVE_RUN = new Set([301, 302])
const UNREPEATABLE = new Set(['POST', 'PATCH'])

/**
 * The request that follows a redirect; undefined if the response is none. The method is kept, except for 303. Throws if the
 * redirect leaves the origin: the other server must get neither the credentials nor the arguments.
 */
export function redirectOf(request: ApiRequest, response: Response): ApiRequest | undefined {
  const location = response.headers.get('location')
  if (!REDIRECTS.has(response.status) || location === null) return undefined
  if (!URL.canParse(location, request.url)) throw new ToolError('The API redirects to an invalid address.')
  const target = new URL(location, request.url)
  if (target.origin !== new URL(request.url).origin || target.username || target.password) {
    const to = target.origin === 'null' ? `a ${target.protocol} address` : target.origin
    throw new ToolError(`The API redirects to ${to}. Redirects to another origin are not followed. Set baseUrl to it.`)
  }
  target.hash = ''
  if (MAY_HAVE_RUN.has(response.status) && UNREPEATABLE.has(request.method)) {
    const problem = `The API redirects ${request.method} with status ${response.status}, which does not say whether the operation has run`
    throw new ToolError(`${problem}. It is not sent again. Check the outcome, and set baseUrl to the final address.`, {
      code: 'UNKNOWN_OUTCOME',
    })
  }
  if (response.status !== 303 || request.method === 'HEAD') return { ...request, url: target.href }
  const headers = new Headers(request.headers)
  headers.delete('content-type')
  return { method: 'GET', url: target.href, headers, body: undefined }
}
