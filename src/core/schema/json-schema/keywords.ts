/** Keywords whose value is one schema. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
])

/** Keywords whose value is a list of schemas. Draft 7 allows a list in "items". */
export const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['prefixItems', 'allOf', 'anyOf', 'oneOf', 'items'])

/** Keywords whose value is an object of schemas. */
export const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
])
