import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** The string or number behind a branded type such as `string & { readonly brand: 'UserId' }`. */
export function brandedPrimitive(ts: TypeScript, type: ts.Type): ts.Type | undefined {
  if (!type.isIntersection()) return undefined
  const primitive = ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike
  return type.types.find((part) => part.flags & primitive)
}
