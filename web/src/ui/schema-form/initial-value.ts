import type { JsonObject } from '../../../../src/core/base/json.ts'
import { resolveSchema, shapeOf } from './shape.ts'

/** The value a form starts with: the defaults, and what the schema leaves no choice about. Undefined: no value yet. */
export function initialValue(schema: JsonObject, root: JsonObject, level = 0): unknown {
  const resolved = resolveSchema(schema, root)
  if (resolved.default !== undefined) return resolved.default
  const shape = shapeOf(resolved, level)
  switch (shape.type) {
    case 'choice':
      return shape.options.length === 1 ? shape.options[0] : undefined
    case 'null':
      return null
    case 'list':
      return []
    case 'variants':
      return shape.variants[0] && initialValue(shape.variants[0], root, level + 1)
    case 'object': {
      const entries = shape.properties
        .map(([name, property]) => {
          const isNeeded = shape.required.has(name) || property.default !== undefined
          return [name, isNeeded ? initialValue(property, root, level + 1) : undefined] as const
        })
        .filter(([, value]) => value !== undefined)
      return Object.fromEntries(entries)
    }
    default:
      return undefined
  }
}
