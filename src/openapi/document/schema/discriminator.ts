import { isRecord, type JsonObject, setOwn } from '../../../base/json.ts'
import type { ApiDocument } from '../api-document.ts'
import { composedSchemas } from './composition.ts'

/**
 * What a discriminator demands of one alternative: the property holds a name that the document maps to it. JSON Schema has
 * no discriminator, and without this rule one value could fit two alternatives. Undefined if nothing is to be added.
 */
export function discriminatorRule(
  document: ApiDocument,
  discriminator: unknown,
  alternative: unknown,
): JsonObject | undefined {
  if (!isRecord(discriminator) || !isRecord(alternative) || typeof alternative.$ref !== 'string') return undefined
  const { propertyName, mapping, defaultMapping } = discriminator
  // With a default, the property may be missing or hold any other name.
  if (typeof propertyName !== 'string' || defaultMapping !== undefined) return undefined
  const { $ref } = alternative
  const ownName = $ref.slice($ref.lastIndexOf('/') + 1)
  const targets = isRecord(mapping) ? Object.entries(mapping) : []
  const mapped = targets.filter(([, target]) => target === $ref || target === ownName).map(([name]) => name)
  const declared = composedSchemas(document, alternative).flatMap(({ properties }) =>
    isRecord(properties) && Object.hasOwn(properties, propertyName)
      ? composedSchemas(document, properties[propertyName])
      : [],
  )
  if (declared.some((schema) => schema.enum !== undefined || schema.const !== undefined)) return undefined
  const properties: JsonObject = {}
  setOwn(properties, propertyName, { enum: mapped.length > 0 ? mapped : [ownName] })
  return { properties, required: [propertyName] }
}
