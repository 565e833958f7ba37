import { isRecord, type JsonObject, setOwn } from '../../../../core/base/json.ts'
import type { ApiDocument } from '../api-document.ts'
import { composedSchemas } from './composition.ts'

/** What a discriminator demands of one alternative; undefined if nothing is to be added. */
type DiscriminatorRule = (alternative: unknown) => JsonObject | undefined

/**
 * Translates a discriminator: in each alternative, the property holds a name that the document maps to it. JSON Schema has
 * no discriminator, and without this rule one value could fit two alternatives.
 */
export function toDiscriminatorRule(document: ApiDocument, discriminator: unknown): DiscriminatorRule {
  if (!isRecord(discriminator)) return () => undefined
  const { propertyName, mapping, defaultMapping } = discriminator
  // With a default, the property may be missing or hold any other name.
  if (typeof propertyName !== 'string' || defaultMapping !== undefined) return () => undefined
  const targets = isRecord(mapping) ? Object.entries(mapping) : []
  const names = Map.groupBy(targets, ([, target]) => target)
  return (alternative) => {
    if (!isRecord(alternative) || typeof alternative.$ref !== 'string') return undefined
    if (namesItself(document, alternative, propertyName)) return undefined
    const { $ref } = alternative
    const ownName = $ref.slice($ref.lastIndexOf('/') + 1)
    const mapped = [...(names.get($ref) ?? []), ...(names.get(ownName) ?? [])].map(([name]) => name)
    const properties: JsonObject = {}
    setOwn(properties, propertyName, { enum: mapped.length > 0 ? mapped : [ownName] })
    return { properties, required: [propertyName] }
  }
}

/** Does the alternative itself list the values of the property? */
function namesItself(document: ApiDocument, alternative: JsonObject, propertyName: string): boolean {
  const declared = composedSchemas(document, alternative).flatMap(({ properties }) =>
    isRecord(properties) && Object.hasOwn(properties, propertyName)
      ? composedSchemas(document, properties[propertyName])
      : [],
  )
  return declared.some((schema) => schema.enum !== undefined || schema.const !== undefined)
}
