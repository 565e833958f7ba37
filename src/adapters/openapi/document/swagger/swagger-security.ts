import type { JsonObject } from '../../../../core/base/json.ts'

const FLOWS = new Map<unknown, string>([
  ['application', 'clientCredentials'],
  ['accessCode', 'authorizationCode'],
  ['implicit', 'implicit'],
  ['password', 'password'],
])

/** A security scheme of Swagger 2 in the form of OpenAPI 3. */
export function toSecurityScheme(scheme: JsonObject): JsonObject {
  if (scheme.type === 'basic') return { ...pick(scheme, ['description']), type: 'http', scheme: 'basic' }
  if (scheme.type !== 'oauth2') return scheme
  const flow = FLOWS.get(scheme.flow)
  const urls = pick(scheme, ['authorizationUrl', 'tokenUrl'])
  return {
    ...pick(scheme, ['description']),
    type: 'oauth2',
    flows: flow ? { [flow]: { ...urls, scopes: scheme.scopes ?? {} } } : {},
  }
}

function pick(source: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => source[key] !== undefined).map((key) => [key, source[key]]))
}
