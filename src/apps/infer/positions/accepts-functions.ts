import type ts from 'typescript-classic'
import { isToolwrightSymbol } from '../functions/toolwright-types.ts'

/** Whether a place takes plain functions as tools: its type has `ToolFunction` in it, or is a list of such a type. */
export function acceptsFunctions(checker: ts.TypeChecker, type: ts.Type | undefined): boolean {
  if (!type) return false
  return membersOf(checker, type).some(isToolFunction) || elementTypes(checker, type).some(isToolFunction)
}

/**
 * Whether the value is a function whose types can be read. A value that is declared as `ToolFunction`, or as a type parameter, may
 * be any function: its types are read where it comes from.
 */
export function isPlainFunction(type: ts.Type): boolean {
  if (isParameter(type) || isToolFunction(type) || type.getConstructSignatures().length > 0) return false
  return type.getCallSignatures().length > 0
}

/** The types of the items of a list. Empty if the type is not a list. */
export function elementTypes(checker: ts.TypeChecker, type: ts.Type): ts.Type[] {
  return membersOf(checker, type)
    .filter((member) => checker.isArrayType(member) || checker.isTupleType(member))
    .flatMap((member) => checker.getTypeArguments(member as ts.TypeReference))
    .flatMap((item) => membersOf(checker, item))
}

/** The members of a union. The constraint stands for a type parameter. */
function membersOf(checker: ts.TypeChecker, type: ts.Type): readonly ts.Type[] {
  const known = isParameter(type) ? (checker.getBaseConstraintOfType(type) ?? type) : type
  return known.isUnion() ? known.types : [known]
}

/** Not a type guard: for TypeScript, every type looks like a type parameter. */
function isParameter(type: ts.Type): boolean {
  return type.isTypeParameter()
}

function isToolFunction({ symbol }: ts.Type): boolean {
  return symbol?.name === 'ToolFunction' && isToolwrightSymbol(symbol)
}
