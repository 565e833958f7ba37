import type ts from 'typescript-classic'
import type { JsonObject } from '../../../core/base/json.ts'
import { TYPE_MARK } from '../../../core/schema/marked-strings.ts'
import type { Reading } from './reading.ts'

const STRING_FORMS: ReadonlyMap<string, JsonObject> = new Map([
  ['Date', { type: 'string', format: 'date-time' }],
  ['Uint8Array', { type: 'string', contentEncoding: 'base64' }],
])

/** The schema of `Date` and `Uint8Array`, which are strings in JSON. Arguments are marked, because they are converted. */
export function stringFormOf({ program, side }: Reading, type: ts.Type): JsonObject | undefined {
  const { symbol } = type
  const schema = symbol && STRING_FORMS.get(symbol.name)
  if (!schema || !symbol.declarations?.some((node) => program.isSourceFileDefaultLibrary(node.getSourceFile())))
    return undefined
  return side === 'arguments' ? { ...schema, [TYPE_MARK]: symbol.name } : { ...schema }
}
