// Where an expression stands: whether it is the value of something, and whether tools are expected there.
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { symbolOf } from '../functions/resolve-function.ts'
import { isToolwrightSymbol } from '../functions/toolwright-types.ts'
import { acceptsUndefined } from '../types/read-object.ts'
import { acceptsFunctions } from './accepts-functions.ts'

/** Whether a call is `tool(...)` of this package. */
export function isToolCall(ts: TypeScript, checker: ts.TypeChecker, { expression }: ts.CallExpression): boolean {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
  if (!ts.isIdentifier(name)) return false
  const symbol = symbolOf(ts, checker, name)
  return symbol?.name === 'tool' && isToolwrightSymbol(symbol)
}

/** Whether plain functions are expected here: by the type of the place, or of the parameter before type arguments are filled in. */
export function acceptsTools(ts: TypeScript, checker: ts.TypeChecker, node: ts.Expression): boolean {
  if (acceptsFunctions(checker, checker.getContextualType(node))) return true
  const { parent } = node
  if (!ts.isCallExpression(parent) && !ts.isNewExpression(parent)) return false
  const declaration = checker.getResolvedSignature(parent)?.declaration
  const parameter = declaration?.parameters[parent.arguments?.indexOf(node) ?? -1]
  return parameter !== undefined && acceptsFunctions(checker, checker.getTypeAtLocation(parameter))
}

/** Whether a node is the value of something: an argument, an item, a property, an initializer, a result. */
export function isValue(ts: TypeScript, node: ts.Expression): boolean {
  const { parent } = node
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) return parent.expression !== node
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent))
    return parent.initializer === node
  if (ts.isParameter(parent)) return parent.initializer === node
  if (ts.isArrowFunction(parent)) return parent.body === node
  if (ts.isBinaryExpression(parent)) return parent.right === node
  return ts.isArrayLiteralExpression(parent) || ts.isReturnStatement(parent) || ts.isSpreadElement(parent)
}

/** Whether a node is a member of an object or class. Those of a module cannot get another value. */
export function isMember(ts: TypeScript, checker: ts.TypeChecker, node: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(node)) return false
  const owner = symbolOf(ts, checker, node.expression)
  return !(owner && owner.flags & ts.SymbolFlags.ValueModule)
}

/** Options of `tool(fn, options)` that replace what is read. */
const OPTIONS = ['name', 'description', 'parameters']

/** The options that always replace what is read. One that may be absent does not. */
export function givenOptions(ts: TypeScript, checker: ts.TypeChecker, options: ts.Expression | undefined): string[] {
  if (!options) return []
  const type = checker.getTypeAtLocation(options)
  return OPTIONS.filter((name) => {
    const property = type.getProperty(name)
    if (!property || property.flags & ts.SymbolFlags.Optional) return false
    return !acceptsUndefined(ts, checker.getTypeOfSymbol(property))
  })
}
