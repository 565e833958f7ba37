import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { symbolOf, withoutCasts } from '../functions/resolve-function.ts'

/** The items of a list that is written out, also through constants, spreads and other files. Items that are computed are left out. */
export function itemsOf(
  ts: TypeScript,
  checker: ts.TypeChecker,
  expression: ts.Expression,
  depth = 0,
): ts.Expression[] {
  const list = withoutCasts(ts, expression)
  if (!ts.isArrayLiteralExpression(list)) return itemsOfSymbol(ts, checker, symbolOf(ts, checker, list), depth)
  return list.elements.flatMap((element) => {
    const item = withoutCasts(ts, ts.isSpreadElement(element) ? element.expression : element)
    const isList = ts.isSpreadElement(element) || ts.isArrayLiteralExpression(item)
    return isList ? itemsOf(ts, checker, item, depth + 1) : [item]
  })
}

/** The items of the list that a constant was created with. */
export function itemsOfSymbol(
  ts: TypeScript,
  checker: ts.TypeChecker,
  symbol: ts.Symbol | undefined,
  depth = 0,
): ts.Expression[] {
  const declaration = symbol?.valueDeclaration
  if (!declaration || depth > 20) return []
  const isConstant =
    ts.isPropertyAssignment(declaration) ||
    (ts.isVariableDeclaration(declaration) && (ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const) !== 0)
  return isConstant && declaration.initializer ? itemsOf(ts, checker, declaration.initializer, depth + 1) : []
}

/** The list whose items a variable takes: that of `list.map((item) => ...)`, or of `for (const item of list)`. */
export function listBehind(ts: TypeScript, symbol: ts.Symbol | undefined): ts.Expression | undefined {
  const declaration = symbol?.valueDeclaration
  if (!declaration) return undefined
  if (ts.isVariableDeclaration(declaration)) {
    const loop = declaration.parent.parent
    return ts.isForOfStatement(loop) ? loop.expression : undefined
  }
  if (!ts.isParameter(declaration) || declaration.parent.parameters[0] !== declaration) return undefined
  const call = declaration.parent.parent
  if (!ts.isCallExpression(call) || call.arguments[0] !== declaration.parent) return undefined
  const { expression } = call
  const isLoop = ts.isPropertyAccessExpression(expression) && /^(?:map|flatMap|forEach)$/.test(expression.name.text)
  return isLoop ? expression.expression : undefined
}
