// Finds the places in a file where a plain function is used as a tool.
import type ts from 'typescript-classic'
import type { InferredFunction, InferredShape } from '../../tool/functions/inferred-function.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { makesTools } from '../functions/makes-tools.ts'
import { readFunction } from '../functions/read-function.ts'
import { resolveFunction, symbolOf, withoutCasts } from '../functions/resolve-function.ts'
import { isToolwrightSymbol } from '../functions/toolwright-types.ts'
import { type Mistake, mistakeAt } from '../types/mistake.ts'
import { acceptsUndefined } from '../types/read-object.ts'
import { acceptsFunctions, elementTypes, isPlainFunction } from './accepts-functions.ts'
import { itemsOf, itemsOfSymbol, listBehind } from './trace-list.ts'

/** An expression whose value gets what was inferred. */
export interface Attachment {
  /** The first character of the expression. */
  readonly start: number
  /** The character after the expression. */
  readonly end: number
  /** Whether it is the name in `{ tools }`, which has to be repeated: `{ tools: ... }`. */
  readonly isShorthand?: true
  /** The name that the function must have at run time. Set for a member of an object, which may have got another value. */
  readonly expectedName?: string
  /** What to attach. */
  readonly shape: InferredShape
}

/** What was found in a file. */
export interface ToolFunctions {
  /** The expressions to wrap. */
  readonly attachments: readonly Attachment[]
  /** What cannot become a tool. */
  readonly mistakes: readonly Mistake[]
}

/** Options of `tool(fn, options)` that replace what is read. */
const OPTIONS = ['name', 'description', 'parameters']

/** Finds the plain functions that a file passes to `tool()` or lists as tools, and reads their types. */
export function findToolFunctions(ts: TypeScript, program: ts.Program, source: ts.SourceFile): ToolFunctions {
  const checker = program.getTypeChecker()
  const attachments = new Map<number, Attachment>() // by position, because two places can lead to one function
  const mistakes: Mistake[] = []
  visit(source)
  return { attachments: [...attachments.values()], mistakes }

  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node) && isToolCall(node)) visitToolCall(node)
    else if (ts.isShorthandPropertyAssignment(node)) visitShorthand(node)
    else if (ts.isExpression(node) && isValue(node) && acceptsTools(node)) visitTools(node)
    else ts.forEachChild(node, visit)
  }

  /** `tool(fn, options)`. */
  function visitToolCall(call: ts.CallExpression): void {
    const [first, options] = call.arguments
    if (first) {
      const given = OPTIONS.filter((name) => options !== undefined && hasProperty(options, name))
      for (const part of valuesOf(first))
        if (isPlainFunction(checker.getTypeAtLocation(part))) attachFunction(part, given)
    }
    for (const child of [call.expression, ...call.arguments]) visit(child)
  }

  /** The expressions that can become the value of one: the branches of a condition. */
  function valuesOf(node: ts.Expression): readonly ts.Expression[] {
    const inner = withoutCasts(ts, node)
    return ts.isConditionalExpression(inner) ? [inner.whenTrue, inner.whenFalse].flatMap(valuesOf) : [node]
  }

  /** An expression where tools are expected: a function, a list, or something that contains them. */
  function visitTools(node: ts.Expression): void {
    const parts = toolParts(node)
    if (parts) {
      for (const part of parts) visitTools(part)
      return
    }
    const type = checker.getTypeAtLocation(node)
    if (isPlainFunction(type)) attachFunction(node, [])
    else if (elementTypes(checker, type).some(isPlainFunction)) attachItems(node, itemsOf(ts, checker, node))
    if (ts.isCallExpression(node) && isToolCall(node)) visitToolCall(node)
    else ts.forEachChild(node, visit)
  }

  /** The expressions inside of one that become its value. Undefined if it is a value itself. */
  function toolParts(node: ts.Expression): readonly ts.Expression[] | undefined {
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
      return [node.expression]
    if (ts.isConditionalExpression(node)) {
      visit(node.condition)
      return [node.whenTrue, node.whenFalse]
    }
    if (ts.isSpreadElement(node)) return [node.expression]
    if (ts.isBinaryExpression(node)) {
      const { kind } = node.operatorToken
      if (kind === ts.SyntaxKind.BarBarToken || kind === ts.SyntaxKind.QuestionQuestionToken)
        return [node.left, node.right]
      visit(node.left) // a condition, the target of an assignment, or the first part of `a, b`
      return [node.right]
    }
    if (!ts.isArrayLiteralExpression(node)) return undefined
    return node.elements.map((element) => (ts.isSpreadElement(element) ? element.expression : element))
  }

  function visitShorthand(node: ts.ShorthandPropertyAssignment): void {
    if (!acceptsFunctions(checker, checker.getContextualType(node.name))) return
    const symbol = checker.getShorthandAssignmentValueSymbol(node)
    const type = symbol && checker.getTypeOfSymbol(symbol)
    if (!symbol || !type || !elementTypes(checker, type).some(isPlainFunction)) return
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    attachItems(node.name, itemsOfSymbol(ts, checker, target), true)
  }

  /**
   * Attaches to the function that an expression stands for. One that the source does not show stays as it is: `tool()` checks it at
   * run time.
   */
  function attachFunction(expression: ts.Expression, given: readonly string[]): void {
    const inferred = read(expression, given)
    if (inferred) attach(expression, inferred)
    else if (inferred === undefined) {
      const list = listBehind(ts, symbolOf(ts, checker, withoutCasts(ts, expression)))
      if (list) attachItems(list, itemsOf(ts, checker, list), false, given)
    }
  }

  /** Attaches to the items of a list: where they are written in this file, else to the value of the list by their names. */
  function attachItems(
    list: ts.Node,
    items: readonly ts.Expression[],
    isShorthand = false,
    given: readonly string[] = [],
  ): void {
    const foreign: InferredFunction[] = []
    for (const item of items) {
      if (!isPlainFunction(checker.getTypeAtLocation(item))) continue
      const inferred = read(item, given)
      if (!inferred) continue
      if (item.getSourceFile() === source) attach(item, inferred)
      else foreign.push(inferred)
    }
    if (foreign.length > 0) attach(list, foreign, isShorthand)
  }

  function attach(node: ts.Node, shape: InferredShape, isShorthand = false): void {
    const start = node.getStart(source)
    const expectedName = 'call' in shape && isMember(node) ? shape.name : undefined
    attachments.set(start, {
      start,
      end: node.getEnd(),
      ...(isShorthand && { isShorthand }),
      ...(expectedName !== undefined && { expectedName }),
      shape,
    })
  }

  /** Whether a node is a member of an object or class. Those of a module cannot get another value. */
  function isMember(node: ts.Node): boolean {
    const inner = ts.isExpression(node) ? withoutCasts(ts, node) : node
    if (!ts.isPropertyAccessExpression(inner)) return false
    const owner = symbolOf(ts, checker, inner.expression)
    return !(owner && owner.flags & ts.SymbolFlags.ValueModule)
  }

  /** Reads the function behind an expression. Null after a mistake, undefined if the source does not show the function. */
  function read(expression: ts.Expression, given: readonly string[]): InferredFunction | null | undefined {
    const type = checker.getTypeAtLocation(expression)
    if (makesTools(checker, type)) {
      const name = expression.getText()
      const args = type.getCallSignatures()[0]?.parameters.length ? '...' : ''
      mistakes.push(mistakeAt(expression, `${name} makes tools and is no tool itself. Call it: ${name}(${args}).`))
      return null
    }
    const resolved = resolveFunction(ts, checker, expression)
    if (!resolved) return undefined
    if ('instanceMethod' in resolved) {
      const method = resolved.instanceMethod
      mistakes.push(
        mistakeAt(
          expression,
          `Method "${method}" needs its instance, which a call of the tool does not have. Write a function that calls it: (id: string) => ${expression.getText()}(id).`,
        ),
      )
      return null
    }
    const found = readFunction(ts, program, { node: expression, ...resolved, given })
    if (!('mistakes' in found)) return found.inferred
    mistakes.push(...found.mistakes)
    return null
  }

  function isToolCall({ expression }: ts.CallExpression): boolean {
    const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
    if (!ts.isIdentifier(name)) return false
    const symbol = symbolOf(ts, checker, name)
    return symbol?.name === 'tool' && isToolwrightSymbol(symbol)
  }

  /** Whether plain functions are expected here: by the type of the place, or of the parameter before type arguments are filled in. */
  function acceptsTools(node: ts.Expression): boolean {
    if (acceptsFunctions(checker, checker.getContextualType(node))) return true
    const { parent } = node
    if (!ts.isCallExpression(parent) && !ts.isNewExpression(parent)) return false
    const declaration = checker.getResolvedSignature(parent)?.declaration
    const parameter = declaration?.parameters[parent.arguments?.indexOf(node) ?? -1]
    return parameter !== undefined && acceptsFunctions(checker, checker.getTypeAtLocation(parameter))
  }

  /** Whether a node is the value of something: an argument, an item, a property, an initializer, a result. */
  function isValue(node: ts.Expression): boolean {
    const { parent } = node
    if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) return parent.expression !== node
    if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent))
      return parent.initializer === node
    if (ts.isParameter(parent)) return parent.initializer === node
    if (ts.isArrowFunction(parent)) return parent.body === node
    if (ts.isBinaryExpression(parent)) return parent.right === node
    return ts.isArrayLiteralExpression(parent) || ts.isReturnStatement(parent) || ts.isSpreadElement(parent)
  }

  /** Whether the options always have a property. One that may be absent does not replace what is inferred. */
  function hasProperty(options: ts.Expression, name: string): boolean {
    const property = checker.getTypeAtLocation(options).getProperty(name)
    if (!property || property.flags & ts.SymbolFlags.Optional) return false
    return !acceptsUndefined(ts, checker.getTypeOfSymbol(property))
  }
}
