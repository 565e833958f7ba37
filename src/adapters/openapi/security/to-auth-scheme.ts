import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { AuthScheme, OAuthFlow } from '../../../core/content/auth.ts'
import { isEndpoint } from '../../../services/auth/config/endpoint.ts'

/** Converts a security scheme of a document. Undefined if no credential of this package can satisfy it. */
export function toAuthScheme(scheme: JsonObject): AuthScheme | undefined {
  switch (scheme.type) {
    case 'apiKey':
      return apiKeyScheme(scheme)
    case 'http':
      return httpScheme(scheme)
    case 'oauth2':
      return oauth2Scheme(scheme.flows)
    case 'openIdConnect': {
      const { openIdConnectUrl } = scheme
      return isEndpoint(openIdConnectUrl) ? { type: 'openIdConnect', openIdConnectUrl } : undefined
    }
    default:
      return undefined
  }
}

function apiKeyScheme({ in: place, name }: JsonObject): AuthScheme | undefined {
  if (typeof name !== 'string' || (place !== 'header' && place !== 'query' && place !== 'cookie')) return undefined
  return { type: 'apiKey', in: place, name }
}

function httpScheme(scheme: JsonObject): AuthScheme | undefined {
  const name = String(scheme.scheme).toLowerCase()
  return name === 'basic' || name === 'bearer' ? { type: 'http', scheme: name } : undefined
}

/** The implicit and password flows are left out: they expose tokens and passwords (RFC 9700). */
function oauth2Scheme(flows: unknown): AuthScheme | undefined {
  if (!isRecord(flows)) return undefined
  const code = flowOf(flows.authorizationCode)
  const authorizationCode = code?.authorizationUrl === undefined ? undefined : code
  const clientCredentials = flowOf(flows.clientCredentials)
  if (!authorizationCode && !clientCredentials) return undefined
  return {
    type: 'oauth2',
    flows: { ...(authorizationCode && { authorizationCode }), ...(clientCredentials && { clientCredentials }) },
  }
}

function flowOf(flow: unknown): OAuthFlow | undefined {
  if (!isRecord(flow) || !isEndpoint(flow.tokenUrl)) return undefined
  const { tokenUrl, authorizationUrl, refreshUrl } = flow
  return {
    tokenUrl,
    ...(isEndpoint(authorizationUrl) && { authorizationUrl }),
    ...(isEndpoint(refreshUrl) && { refreshUrl }),
  }
}
