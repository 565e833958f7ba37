import { isRecord } from '../../base/json.ts'
import type { ServerTemplate } from '../operation.ts'
import type { Notes } from './api-document.ts'
import { MAX_ALTERNATIVES } from './limits.ts'

/** Reads a list of servers. */
export function readServers(servers: readonly unknown[], notes: Notes): ServerTemplate[] {
  return servers.slice(0, MAX_ALTERNATIVES).flatMap((server) => {
    if (!isRecord(server) || typeof server.url !== 'string') {
      notes.add('A server is left out: it has no "url".')
      return []
    }
    return [{ url: server.url, variables: readVariables(server.variables) }]
  })
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
