import { copyJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { ApiOperation } from '../operation.ts'
import { type ApiDocument, DocumentProblem, quote } from './api-document.ts'
import { MAX_ALTERNATIVES } from './limits.ts'
import { followReferences } from './references.ts'
import { toSecurityScheme } from './swagger/swagger-security.ts'

/**
 * Reads security requirements. Throws `DocumentProblem` if they cannot be read, because a request without them could be sent
 * without a credential.
 */
export function readSecurity(alternatives: unknown): ApiOperation['security'] {
  if (!Array.isArray(alternatives) || alternatives.length > MAX_ALTERNATIVES)
    throw new DocumentProblem(`"security" must be a list of at most ${MAX_ALTERNATIVES} requirements`)
  return alternatives.map((alternative) => {
    if (!isRecord(alternative)) throw new DocumentProblem('a security requirement must be an object')
    return Object.entries(alternative).map(([scheme, scopes]) => ({
      scheme,
      scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
    }))
  })
}

/** The security schemes of the document, by name. Schemes that cannot be read are noted and left out. */
export function readSecuritySchemes(document: ApiDocument): Map<string, JsonObject> {
  const { root, version } = document
  const components = isRecord(root.components) ? root.components : {}
  const schemes = version === '2.0' ? root.securityDefinitions : components.securitySchemes
  const read = new Map<string, JsonObject>()
  for (const [name, scheme] of isRecord(schemes) ? Object.entries(schemes) : [])
    try {
      const copy = copyJson(followReferences(document, scheme, 'the security scheme'))
      read.set(name, version === '2.0' ? toSecurityScheme(copy) : copy)
    } catch (error) {
      if (!(error instanceof DocumentProblem || error instanceof RangeError)) throw error
      document.notes.add(`Security scheme ${quote(name)}`, ` is left out: ${error.message}.`)
    }
  return read
}
