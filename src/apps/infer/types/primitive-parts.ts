import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** The strings, numbers and booleans of an intersection. One is a branded type, such as `string & { readonly brand: 'UserId' }`. */
export function primitiveParts(ts: TypeScript, type: ts.Type): ts.Type[] {
  if (!type.isIntersection()) return []
  const primitive = ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike
  return type.types.filter((part) => part.flags & primitive)
}
