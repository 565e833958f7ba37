import type { JsonObject } from '../../../../core/base/json.ts'
import type { ServerTemplate } from '../../operation.ts'
import { MAX_ALTERNATIVES } from '../limits.ts'

/** The servers of a Swagger 2 document, from `host`, `basePath` and `schemes`. HTTPS comes first. */
export function swaggerServers({ host, basePath, schemes }: JsonObject, operation: JsonObject): ServerTemplate[] {
  const path = typeof basePath === 'string' && basePath !== '/' ? basePath : ''
  const variables = new Map()
  if (typeof host !== 'string' || host === '') return path === '' ? [] : [{ url: path, variables }]
  const listed = Array.isArray(operation.schemes) ? operation.schemes : Array.isArray(schemes) ? schemes : []
  const usable = ['https', 'http'].filter((scheme) => listed.slice(0, MAX_ALTERNATIVES).includes(scheme))
  return (usable.length > 0 ? usable : ['https']).map((scheme) => ({ url: `${scheme}://${host}${path}`, variables }))
}
