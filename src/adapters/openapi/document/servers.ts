import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { ServerTemplate } from '../operation.ts'
import type { ApiDocument } from './api-document.ts'
import { MAX_ALTERNATIVES } from './limits.ts'
import { Problems } from './problems.ts'
import { swaggerServers } from './swagger/swagger-servers.ts'

/** Reads a list of servers. */
export function readServers(servers: readonly unknown[], notes: Problems): ServerTemplate[] {
  return servers.slice(0, MAX_ALTERNATIVES).flatMap((server) => {
    if (!isRecord(server) || typeof server.url !== 'string') {
      notes.add('A server', ' is left out: it has no "url".')
      return []
    }
    return [{ url: server.url, variables: readVariables(server.variables) }]
  })
}

/** The servers of the whole document. */
export function rootServers({ root, version, notes }: ApiDocument): ServerTemplate[] {
  if (version === '2.0') return swaggerServers(root, {})
  return isFilledList(root.servers) ? readServers(root.servers, notes) : []
}

/** The first server of each operation, for a document without servers of its own. An operation without one has an empty list. */
export function operationServers(
  { root, version }: ApiDocument,
  found: readonly { readonly pathItem: JsonObject; readonly operation: JsonObject }[],
): ServerTemplate[][] {
  if (version === '2.0' || isFilledList(root.servers)) return []
  const lists = new Set(
    found.map(({ pathItem, operation }) => [operation.servers, pathItem.servers].find(isFilledList)),
  )
  return [...lists].map((list) => readServers((list ?? []).slice(0, 1), new Problems()))
}

/** The names of the variables in the servers of the document, its paths and its operations. */
export function serverVariablesOf(
  { root }: { readonly root: JsonObject },
  found: readonly { readonly pathItem: JsonObject; readonly operation: JsonObject }[],
): Set<string> {
  const lists = new Set([
    root.servers,
    ...found.flatMap(({ pathItem, operation }) => [pathItem.servers, operation.servers]),
  ])
  const servers = [...lists].flatMap((list) => (Array.isArray(list) ? list.slice(0, MAX_ALTERNATIVES) : []))
  const names = servers.flatMap((server) =>
    isRecord(server) && isRecord(server.variables) ? Object.keys(server.variables).slice(0, MAX_ALTERNATIVES) : [],
  )
  return new Set(names)
}

/** Is it a list with items? */
export function isFilledList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0
}

/** A variable without a default and without allowed values is left out: the operator must set it. */
function readVariables(variables: unknown): ServerTemplate['variables'] {
  const read = new Map<string, { default: string; enum: readonly string[] | undefined }>()
  if (!isRecord(variables)) return read
  for (const name of Object.keys(variables).slice(0, MAX_ALTERNATIVES)) {
    const variable = variables[name]
    if (!isRecord(variable)) continue
    const values = isFilledList(variable.enum) ? variable.enum.filter(isPlain).map(String) : undefined
    const preset = isPlain(variable.default) ? String(variable.default) : values?.[0]
    if (preset !== undefined) read.set(name, { default: preset, enum: values })
  }
  return read
}

/** YAML reads a port as a number. */
function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
