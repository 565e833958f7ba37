/** The part of JSON Schema that examples are made from. */
export interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: readonly string[]
}

/** A value that a schema allows: only required properties. */
export function exampleOf({ type, enum: values, properties = {}, required = [] }: JsonSchema): unknown {
  if (values) return values[0]
  if (type === 'number' || type === 'integer') return 5
  if (type === 'boolean') return true
  if (type === 'string') return 'text'
  if (type === 'array') return []
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]))
}
