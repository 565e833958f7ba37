// Finds the places in a file where a plain function is used as a tool.
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { withoutCasts } from '../functions/resolve-function.ts'
import type { Mistake } from '../types/mistake.ts'
import { acceptsFunctions, elementTypes, isPlainFunction } from './accepts-functions.ts'
import { type Attachment, Attachments } from './attachments.ts'
import { acceptsTools, givenOptions, isToolCall, isValue } from './tool-positions.ts'
import { itemsOf, itemsOfSymbol } from './trace-list.ts'

/** What was found in a file. */
interface ToolFunctions {
  /** The expressions to wrap. */
  readonly attachments: readonly Attachment[]
  /** What cannot become a tool. */
  readonly mistakes: readonly Mistake[]
}

/** Finds the plain functions that a file passes to `tool()` or lists as tools, and reads their types. */
export function findToolFunctions(ts: TypeScript, program: ts.Program, source: ts.SourceFile): ToolFunctions {
  const found = new Attachments(ts, program, source)
  new Visitor(ts, program.getTypeChecker(), found).visit(source)
  return { attachments: found.all(), mistakes: found.mistakes }
}

/** Walks through a file and passes on what is used as a tool. */
class Visitor {
  readonly #ts: TypeScript
  readonly #checker: ts.TypeChecker
  readonly #found: Attachments

  constructor(ts: TypeScript, checker: ts.TypeChecker, found: Attachments) {
    this.#ts = ts
    this.#checker = checker
    this.#found = found
  }

  readonly visit = (node: ts.Node): void => {
    const ts = this.#ts
    if (ts.isCallExpression(node) && isToolCall(ts, this.#checker, node)) this.#visitToolCall(node)
    else if (ts.isShorthandPropertyAssignment(node)) this.#visitShorthand(node)
    else if (ts.isExpression(node) && isValue(ts, node) && acceptsTools(ts, this.#checker, node)) this.#visitTools(node)
    else ts.forEachChild(node, this.visit)
  }

  /** `tool(fn, options)`. */
  #visitToolCall(call: ts.CallExpression): void {
    const [first, options] = call.arguments
    if (first) {
      const given = givenOptions(this.#ts, this.#checker, options)
      for (const part of this.#valuesOf(first))
        if (isPlainFunction(this.#checker.getTypeAtLocation(part))) this.#found.addFunction(part, given)
    }
    for (const child of [call.expression, ...call.arguments]) this.visit(child)
  }

  /** The expressions that can become the value of one: the branches of a condition. */
  #valuesOf(node: ts.Expression): readonly ts.Expression[] {
    const inner = withoutCasts(this.#ts, node)
    if (!this.#ts.isConditionalExpression(inner)) return [node]
    return [inner.whenTrue, inner.whenFalse].flatMap((branch) => this.#valuesOf(branch))
  }

  /** `{ tools }`. */
  #visitShorthand(node: ts.ShorthandPropertyAssignment): void {
    const [ts, checker] = [this.#ts, this.#checker]
    if (!acceptsFunctions(checker, checker.getContextualType(node.name))) return
    const symbol = checker.getShorthandAssignmentValueSymbol(node)
    const type = symbol && checker.getTypeOfSymbol(symbol)
    if (!symbol || !type || !elementTypes(checker, type).some(isPlainFunction)) return
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    this.#found.addItems(node.name, itemsOfSymbol(ts, checker, target), { isShorthand: true })
  }

  /** An expression where tools are expected: a function, a list, or something that contains them. */
  #visitTools(node: ts.Expression): void {
    const [ts, checker] = [this.#ts, this.#checker]
    const parts = this.#toolParts(node)
    if (parts) {
      for (const part of parts) this.#visitTools(part)
      return
    }
    const type = checker.getTypeAtLocation(node)
    if (isPlainFunction(type)) this.#found.addFunction(node, [])
    else if (elementTypes(checker, type).some(isPlainFunction)) this.#found.addItems(node, itemsOf(ts, checker, node))
    if (ts.isCallExpression(node) && isToolCall(ts, checker, node)) this.#visitToolCall(node)
    else ts.forEachChild(node, this.visit)
  }

  /** The expressions inside of one that become its value. Undefined if it is a value itself. */
  #toolParts(node: ts.Expression): readonly ts.Expression[] | undefined {
    const ts = this.#ts
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
      return [node.expression]
    if (ts.isConditionalExpression(node)) {
      this.visit(node.condition)
      return [node.whenTrue, node.whenFalse]
    }
    if (ts.isSpreadElement(node)) return [node.expression]
    if (ts.isBinaryExpression(node)) {
      const { kind } = node.operatorToken
      if (kind === ts.SyntaxKind.BarBarToken || kind === ts.SyntaxKind.QuestionQuestionToken)
        return [node.left, node.right]
      this.visit(node.left) // a condition, the target of an assignment, or the first part of `a, b`
      return [node.right]
    }
    if (!ts.isArrayLiteralExpression(node)) return undefined
    return node.elements.map((element) => (ts.isSpreadElement(element) ? element.expression : element))
  }
}
