import type ts from 'typescript-classic'
import type { JsonObject } from '../../../core/base/json.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { type Mistake, mistakeAt } from './mistake.ts'

/** The largest number of types in one schema. A larger schema helps no model. */
const MAX_TYPES = 2_000

/** The deepest nesting of types. Each may be in a union, and `tool()` accepts 64 levels. */
const MAX_NESTING = 30

/** What a reader of types needs: the compiler, and where it collects mistakes and definitions. */
export interface Reading {
  /** The compiler. */
  readonly ts: TypeScript
  /** The program that contains the function. */
  readonly program: ts.Program
  /** The types of the program. */
  readonly checker: ts.TypeChecker
  /** Arguments are checked strictly. Results are only described: what has no schema leaves the schema out. */
  readonly side: 'arguments' | 'result'
  /** What was found so far. */
  readonly mistakes: Mistake[]
  /** The types around the current one that may contain themselves, outermost first. */
  readonly open: ts.Type[]
  /** The names of recursive types. */
  readonly names: Map<ts.Type, string>
  /** The schemas of recursive types by name. */
  readonly definitions: JsonObject
  /** How many types were read, and whether that was reported as too many. */
  readonly count: { types: number; isReported: boolean }
}

/** The position of a type in a signature. */
export interface Position {
  /** Where a mistake is reported: the parameter or property in the user's code. */
  readonly node: ts.Node
  /** What it is called in a mistake: `parameter "city"`, `property "options.city"`. */
  readonly label: string
  /** The type as it is written. It has the order of unions and the names of aliases, which types do not keep. */
  readonly typeNode?: ts.TypeNode | undefined
  /** Whether the doc comment has `@any`. */
  readonly allowsAny?: boolean | undefined
  /** Whether the doc comment was written for another type, as in a mapped type: then tags that do not apply are left out. */
  readonly isOtherType?: boolean
}

/** Starts to read one signature. */
export function startReading(ts: TypeScript, program: ts.Program, side: Reading['side'] = 'arguments'): Reading {
  const checker = program.getTypeChecker()
  const count = { types: 0, isReported: false }
  return { ts, program, checker, side, mistakes: [], open: [], names: new Map(), definitions: {}, count }
}

/** Reports a mistake and returns a schema that stands for the type. */
export function refuse({ mistakes }: Reading, { node }: Position, message: string): JsonObject {
  mistakes.push(mistakeAt(node, message))
  return {}
}

/** Counts a type. Reports once if there are too many: then the rest of the types is not read. */
export function isTooLarge(reading: Reading, at: Position): boolean {
  const { count, open } = reading
  count.types++
  if (count.types <= MAX_TYPES && open.length <= MAX_NESTING) return count.isReported
  if (!count.isReported)
    refuse(reading, at, `The type of ${at.label} is too large or too deeply nested for a schema. Use a smaller type.`)
  count.isReported = true
  return true
}

/** Whether a declaration is in the user's own code: not in a package and not in the library of the compiler. */
export function isOwnCode(program: ts.Program, node: ts.Node): boolean {
  const source = node.getSourceFile()
  return !program.isSourceFileDefaultLibrary(source) && !source.fileName.includes('/node_modules/')
}
