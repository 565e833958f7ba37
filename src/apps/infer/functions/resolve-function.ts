// Finds the function that an expression certainly stands for. The type alone does not tell: for two functions with the same
// parameters and result, the compiler uses the type of one of them in `[a, b].map(...)` or `condition ? a : b`.
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** A function and what names it. */
interface ResolvedFunction {
  /** Its type. */
  readonly type: ts.Type
  /** The function, static method, constant or property that gives it its name and its doc comment. */
  readonly symbol?: ts.Symbol | undefined
}

/** A function, or the name of a method that needs its instance. Undefined if the source does not show which function it is. */
type Resolution = ResolvedFunction | { readonly instanceMethod: string } | undefined

/** Resolves an expression. */
export function resolveFunction(ts: TypeScript, checker: ts.TypeChecker, expression: ts.Expression): Resolution {
  return new Resolver(ts, checker).ofExpression(expression, 0)
}

/** Resolves the function that a name stands for. */
export function resolveSymbol(ts: TypeScript, checker: ts.TypeChecker, symbol: ts.Symbol): Resolution {
  return new Resolver(ts, checker).ofSymbol(symbol, 0)
}

/** The name of the function that a symbol stands for. */
export function functionName(ts: TypeScript, symbol: ts.Symbol): string | undefined {
  if (symbol.name !== 'default') return symbol.name
  const declaration = symbol.declarations?.find((node) => ts.isFunctionDeclaration(node))
  return declaration?.name?.text
}

/** The symbol of an expression, through imports. */
export function symbolOf(ts: TypeScript, checker: ts.TypeChecker, expression: ts.Expression): ts.Symbol | undefined {
  const symbol = checker.getSymbolAtLocation(expression)
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** An expression without parentheses, casts and `!`. */
export function withoutCasts(ts: TypeScript, expression: ts.Expression): ts.Expression {
  let inner = expression
  while (
    ts.isParenthesizedExpression(inner) ||
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner) ||
    ts.isNonNullExpression(inner)
  )
    inner = inner.expression
  return inner
}

/** Chains of constants and wrappers longer than this are not followed. */
const MAX_DEPTH = 20

class Resolver {
  readonly #ts: TypeScript
  readonly #checker: ts.TypeChecker

  constructor(ts: TypeScript, checker: ts.TypeChecker) {
    this.#ts = ts
    this.#checker = checker
  }

  ofExpression(expression: ts.Expression, depth: number): Resolution {
    const ts = this.#ts
    if (depth > MAX_DEPTH) return undefined
    const inner = withoutCasts(ts, expression)
    if (ts.isArrowFunction(inner) || ts.isFunctionExpression(inner)) {
      const symbol = inner.name && this.#checker.getSymbolAtLocation(inner.name)
      return { type: this.#checker.getTypeAtLocation(inner), symbol }
    }
    if (ts.isCallExpression(inner)) return this.#ofCall(inner, depth + 1)
    if (!ts.isIdentifier(inner) && !ts.isPropertyAccessExpression(inner)) return undefined
    const symbol = symbolOf(ts, this.#checker, inner)
    return symbol && this.ofSymbol(symbol, depth + 1)
  }

  ofSymbol(symbol: ts.Symbol, depth: number): Resolution {
    const ts = this.#ts
    const declaration = symbol.valueDeclaration
    if (!declaration || depth > MAX_DEPTH) return undefined
    const itself = { type: this.#checker.getTypeOfSymbol(symbol), symbol }
    if (ts.isFunctionDeclaration(declaration)) return itself
    if (ts.isMethodDeclaration(declaration))
      return ts.isClassLike(declaration.parent) && !this.#isStatic(declaration)
        ? { instanceMethod: symbol.name }
        : itself
    if (ts.isMethodSignature(declaration)) return itself
    if (ts.isPropertySignature(declaration))
      return declaration.type && ts.isFunctionTypeNode(declaration.type) ? itself : undefined
    if (ts.isShorthandPropertyAssignment(declaration)) {
      const value = this.#checker.getShorthandAssignmentValueSymbol(declaration)
      const target = value && value.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(value) : value
      return target && this.ofSymbol(target, depth + 1)
    }
    if (ts.isExportAssignment(declaration)) return this.#ofValue(declaration.expression, itself, depth)
    if (ts.isPropertyAssignment(declaration) || ts.isPropertyDeclaration(declaration))
      return declaration.initializer && this.#ofValue(declaration.initializer, itself, depth)
    return ts.isVariableDeclaration(declaration) ? this.#ofVariable(declaration, itself, depth) : undefined
  }

  #ofVariable(declaration: ts.VariableDeclaration, itself: ResolvedFunction, depth: number): Resolution {
    const ts = this.#ts
    if (!(ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const)) return undefined
    if (declaration.initializer) {
      const value = withoutCasts(ts, declaration.initializer)
      const isWritten = ts.isArrowFunction(value) || ts.isFunctionExpression(value)
      // a type that is written for another function may be narrower than the function
      return declaration.type && !isWritten ? undefined : this.#ofValue(value, itself, depth)
    }
    // `declare const`, in contrast to the variable of a for loop
    return ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Ambient ||
      declaration.getSourceFile().isDeclarationFile
      ? itself
      : undefined
  }

  /** The value of a constant or property. A function without a name gets that of the constant, and its declared type. */
  #ofValue(initializer: ts.Expression, itself: ResolvedFunction, depth: number): Resolution {
    const found = this.ofExpression(initializer, depth + 1)
    if (!found || 'instanceMethod' in found || found.symbol) return found
    return itself
  }

  /** `traced(fn)` returns the type of its one function. A function that a factory creates has the type of the factory. */
  #ofCall(call: ts.CallExpression, depth: number): Resolution {
    const ts = this.#ts
    const type = this.#checker.getTypeAtLocation(call)
    const isCallable = (one: ts.Type): boolean => one.getCallSignatures().length > 0
    const functions = call.arguments.filter((argument) => isCallable(this.#checker.getTypeAtLocation(argument)))
    const [only] = functions
    if (only && functions.length === 1 && this.#checker.getTypeAtLocation(only) === type)
      return this.ofExpression(only, depth + 1)
    const created = type.getCallSignatures()[0]?.declaration
    const factory = this.#checker.getResolvedSignature(call)?.declaration
    if (!created || !factory || ts.isJSDocSignature(created)) return undefined
    const isDeclaredType = ts.isFunctionTypeNode(created) || ts.isCallSignatureDeclaration(created)
    return isDeclaredType || isInside(created, factory) ? { type } : undefined
  }

  #isStatic(declaration: ts.MethodDeclaration): boolean {
    return (this.#ts.getCombinedModifierFlags(declaration) & this.#ts.ModifierFlags.Static) !== 0
  }
}

function isInside(node: ts.Node, outer: ts.Node): boolean {
  for (let parent: ts.Node | undefined = node.parent; parent; parent = parent.parent) if (parent === outer) return true
  return false
}
