import type { JsonObject } from '../../base/json.ts'
import { encodePointer } from './json-pointer.ts'
import { findAddresses, resolveReference, type SchemaAddresses } from './references.ts'

/**
 * Turns every "$ref" into a pointer from the root and drops "$id" and "$anchor", because model providers support no other
 * references. Changes the schema.
 */
export function makeReferencesLocal(schema: JsonObject, options: Pick<SchemaAddresses, 'what' | 'lenient'>): void {
  const addresses = findAddresses(schema, options)
  const pointers = new Map<unknown, string>()
  collectPointers(schema, '#', pointers)
  const targets = new Map<JsonObject, string>()
  // Resolving a reference may add schemas to the map. The loop visits them too.
  for (const node of addresses.bases.keys())
    if (typeof node.$ref === 'string') {
      const pointer = pointers.get(resolveReference(addresses, node, node.$ref))
      if (pointer === undefined) return // a boolean schema has no pointer
      targets.set(node, pointer)
    }
  for (const node of addresses.bases.keys()) {
    if (targets.has(node)) node.$ref = targets.get(node)
    delete node.$id
    delete node.$anchor
  }
}

function collectPointers(value: unknown, pointer: string, pointers: Map<unknown, string>): void {
  if (typeof value !== 'object' || value === null) return
  pointers.set(value, pointer)
  for (const [key, part] of Object.entries(value)) collectPointers(part, `${pointer}/${encodePointer(key)}`, pointers)
}
