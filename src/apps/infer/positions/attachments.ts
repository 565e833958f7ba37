// Collects what is attached to the expressions of a file, and the mistakes.
import type ts from 'typescript-classic'
import type { InferredFunction, InferredShape } from '../../../engine/tool/functions/inferred-function.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { makesTools } from '../functions/makes-tools.ts'
import { readFunction } from '../functions/read-function.ts'
import { resolveFunction, symbolOf, withoutCasts } from '../functions/resolve-function.ts'
import { type Mistake, mistakeAt } from '../types/mistake.ts'
import { isPlainFunction } from './accepts-functions.ts'
import { isMember } from './tool-positions.ts'
import { itemsOf, listBehind } from './trace-list.ts'

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

/** A list of functions, and how it is written. */
interface ListOptions {
  /** Whether the list is the name in `{ tools }`. */
  readonly isShorthand?: boolean
  /** Options of `tool()` that replace what is read. */
  readonly given?: readonly string[]
}

/** What was found in one file. */
export class Attachments {
  /** What cannot become a tool. */
  readonly mistakes: Mistake[] = []
  readonly #found = new Map<number, Attachment>() // by position, because two places can lead to one function
  readonly #ts: TypeScript
  readonly #program: ts.Program
  readonly #checker: ts.TypeChecker
  readonly #source: ts.SourceFile

  constructor(ts: TypeScript, program: ts.Program, source: ts.SourceFile) {
    this.#ts = ts
    this.#program = program
    this.#checker = program.getTypeChecker()
    this.#source = source
  }

  /** The expressions to wrap. */
  all(): Attachment[] {
    return [...this.#found.values()]
  }

  /**
   * Attaches to the function that an expression stands for. One that the source does not show stays as it is: `tool()` checks it at
   * run time.
   */
  addFunction(expression: ts.Expression, given: readonly string[]): void {
    const inferred = this.#read(expression, given)
    if (inferred) this.#attach(expression, inferred)
    else if (inferred === undefined) {
      const list = listBehind(this.#ts, symbolOf(this.#ts, this.#checker, withoutCasts(this.#ts, expression)))
      if (list) this.addItems(list, itemsOf(this.#ts, this.#checker, list), { given })
    }
  }

  /** Attaches to the items of a list: where they are written in this file, else to the value of the list by their names. */
  addItems(
    list: ts.Node,
    items: readonly ts.Expression[],
    { isShorthand = false, given = [] }: ListOptions = {},
  ): void {
    const foreign: InferredFunction[] = []
    for (const item of items) {
      if (!isPlainFunction(this.#checker.getTypeAtLocation(item))) continue
      const inferred = this.#read(item, given)
      if (!inferred) continue
      if (item.getSourceFile() === this.#source) this.#attach(item, inferred)
      else foreign.push(inferred)
    }
    if (foreign.length > 0) this.#attach(list, foreign, isShorthand)
  }

  #attach(node: ts.Node, shape: InferredShape, isShorthand = false): void {
    const start = node.getStart(this.#source)
    const inner = this.#ts.isExpression(node) ? withoutCasts(this.#ts, node) : node
    const expectedName = 'call' in shape && isMember(this.#ts, this.#checker, inner) ? shape.name : undefined
    this.#found.set(start, {
      start,
      end: node.getEnd(),
      ...(isShorthand && { isShorthand }),
      ...(expectedName !== undefined && { expectedName }),
      shape,
    })
  }

  /** Reads the function behind an expression. Null after a mistake, undefined if the source does not show the function. */
  #read(expression: ts.Expression, given: readonly string[]): InferredFunction | null | undefined {
    const type = this.#checker.getTypeAtLocation(expression)
    if (makesTools(this.#checker, type)) {
      const name = expression.getText()
      const args = type.getCallSignatures()[0]?.parameters.length ? '...' : ''
      return this.#refuse(expression, `${name} makes tools and is no tool itself. Call it: ${name}(${args}).`)
    }
    const resolved = resolveFunction(this.#ts, this.#checker, expression)
    if (!resolved) return undefined
    if ('instanceMethod' in resolved) {
      const problem = `Method "${resolved.instanceMethod}" needs its instance, which a call of the tool does not have.`
      return this.#refuse(
        expression,
        `${problem} Write a function that calls it: (id: string) => ${expression.getText()}(id).`,
      )
    }
    const found = readFunction(this.#ts, this.#program, { node: expression, ...resolved, given })
    if (!('mistakes' in found)) return found.inferred
    this.mistakes.push(...found.mistakes)
    return null
  }

  #refuse(expression: ts.Expression, problem: string): null {
    this.mistakes.push(mistakeAt(expression, problem))
    return null
  }
}
