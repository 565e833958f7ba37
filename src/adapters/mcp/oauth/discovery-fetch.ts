import { AuthError } from '../../../services/auth/auth-error.ts'
import { fetchText, type TokenHttp } from '../../../services/auth/tokens/token-fetch.ts'
import { checkResolved, checkTarget, type TargetRules } from './target-guard.ts'

/** Options of `discoveryFetch()`. */
interface DiscoveryFetchOptions extends TokenHttp {
  /** Which URLs may be contacted. */
  readonly rules: TargetRules
  /** Aborts the requests. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A `fetch` for discovery and registration. It checks the target of each request, follows no redirect, and limits the size
 * and the time of the response. The name of a host is resolved before the request and again by the connection, because
 * `fetch` cannot be told which address to use. A name that changes in between reaches a host without its TLS certificate:
 * the connection fails before anything of the request is sent.
 */
export function discoveryFetch({ rules, signal, ...http }: DiscoveryFetchOptions): DiscoveryFetch {
  return async (url, init = {}) => {
    signal?.throwIfAborted()
    const target = checkTarget(url, 'authorization URL', rules)
    await checkResolved(target, rules)
    try {
      const { status, headers, text } = await fetchText(http, target.href, { ...init, ...(signal && { signal }) })
      const hasBody = ![101, 204, 205, 304].includes(status)
      return new Response(hasBody ? text : null, { status, headers: contentHeaders(headers) })
    } catch (error) {
      signal?.throwIfAborted()
      throw error instanceof AuthError ? error : new AuthError('The authorization server sent an invalid response.')
    }
  }
}

/** The part of `fetch` that discovery uses. */
export type DiscoveryFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** The body is already decoded, so only its type is kept. */
function contentHeaders(headers: Headers): Record<string, string> {
  const type = headers.get('content-type')
  return type === null ? {} : { 'content-type': type }
}
