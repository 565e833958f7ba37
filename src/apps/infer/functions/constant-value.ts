import type ts from 'typescript-classic'
import { type JsonObject, setOwn } from '../../../core/base/json.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** The JSON value of an expression that is written out: literals, lists and objects of them, constants, members of enums. */
export function constantOf(ts: TypeScript, checker: ts.TypeChecker, expression: ts.Expression): unknown {
  if (ts.isStringLiteralLike(expression)) return expression.text
  if (ts.isNumericLiteral(expression)) return Number(expression.text)
  if (expression.kind === ts.SyntaxKind.TrueKeyword) return true
  if (expression.kind === ts.SyntaxKind.FalseKeyword) return false
  if (expression.kind === ts.SyntaxKind.NullKeyword) return null
  if (ts.isPrefixUnaryExpression(expression) && expression.operator === ts.SyntaxKind.MinusToken)
    return ts.isNumericLiteral(expression.operand) ? -Number(expression.operand.text) : undefined
  if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression) || ts.isParenthesizedExpression(expression))
    return constantOf(ts, checker, expression.expression)
  if (ts.isArrayLiteralExpression(expression)) return listOf(ts, checker, expression)
  if (ts.isObjectLiteralExpression(expression)) return objectOf(ts, checker, expression)
  if (ts.isPropertyAccessExpression(expression) || ts.isIdentifier(expression))
    return namedConstant(ts, checker, expression)
  return undefined
}

/** The value of a constant or a member of an enum. Its type is a literal. */
function namedConstant(ts: TypeScript, checker: ts.TypeChecker, expression: ts.Expression): unknown {
  const type = checker.getTypeAtLocation(expression)
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value
  return type.flags & ts.TypeFlags.BooleanLiteral ? checker.typeToString(type) === 'true' : undefined
}

function listOf(ts: TypeScript, checker: ts.TypeChecker, { elements }: ts.ArrayLiteralExpression): unknown {
  const items = elements.map((element) => constantOf(ts, checker, element))
  return items.includes(undefined) ? undefined : items
}

function objectOf(ts: TypeScript, checker: ts.TypeChecker, { properties }: ts.ObjectLiteralExpression): unknown {
  const object: JsonObject = {}
  for (const property of properties) {
    if (!ts.isPropertyAssignment(property)) return undefined
    const { name, initializer } = property
    const key = ts.isComputedPropertyName(name) ? constantOf(ts, checker, name.expression) : name.text
    const value = constantOf(ts, checker, initializer)
    if (typeof key !== 'string' || value === undefined) return undefined
    setOwn(object, key, value)
  }
  return object
}
