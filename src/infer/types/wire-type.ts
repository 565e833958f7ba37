import type ts from 'typescript-classic'
import type { JsonObject } from '../../base/json.ts'
import { WIRE_TYPE } from '../../schema/wire-values.ts'
import type { Reading } from './reading.ts'

const WIRE_SCHEMAS: ReadonlyMap<string, JsonObject> = new Map([
  ['Date', { type: 'string', format: 'date-time' }],
  ['Uint8Array', { type: 'string', contentEncoding: 'base64' }],
])

/** The schema of `Date` and `Uint8Array`, which are strings in JSON. Arguments are marked, because they are converted. */
export function wireTypeOf({ program, side }: Reading, type: ts.Type): JsonObject | undefined {
  const { symbol } = type
  const schema = symbol && WIRE_SCHEMAS.get(symbol.name)
  if (!schema || !symbol.declarations?.some((node) => program.isSourceFileDefaultLibrary(node.getSourceFile())))
    return undefined
  return side === 'arguments' ? { ...schema, [WIRE_TYPE]: symbol.name } : { ...schema }
}
