// Reads what a tool needs from the source of a function: name, description, parameters and result.
import type ts from 'typescript-classic'
import type { InferredFunction, InferredParameter } from '../../../engine/tool/functions/inferred-function.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { docsOf } from '../types/doc-comments.ts'
import { type Mistake, mistakeAt } from '../types/mistake.ts'
import { isOwnCode, startReading } from '../types/reading.ts'
import { readParameters } from './read-parameters.ts'
import { readResult } from './read-result.ts'
import { functionName } from './resolve-function.ts'

/** A function to read. */
interface FunctionToRead {
  /** Where the function is used or exported. Mistakes without a better position are reported here. */
  readonly node: ts.Node
  /** The type of the function. */
  readonly type: ts.Type
  /** What gives the function its name and its doc comment. */
  readonly symbol?: ts.Symbol | undefined
  /** The options of `tool(fn, options)` that replace what is read. Undefined if they are not known here. */
  readonly given?: readonly string[] | undefined
}

/** What was read, or the mistakes. */
type ReadFunction = { readonly inferred: InferredFunction } | { readonly mistakes: readonly Mistake[] }

/** Reads a function. */
export function readFunction(ts: TypeScript, program: ts.Program, from: FunctionToRead): ReadFunction {
  const checker = program.getTypeChecker()
  const { type, symbol, given } = from
  const name = symbol && functionName(ts, symbol)
  const called = name === undefined ? 'This function' : `Function "${name}"`
  const [signature, ...overloads] = type.getCallSignatures()
  const declaration = symbol?.valueDeclaration ?? signature?.declaration
  const isOwn = declaration !== undefined && isOwnCode(program, declaration)
  const node = isOwn ? declaration : from.node
  const refuse = (message: string, advice: string): ReadFunction => ({
    mistakes: [mistakeAt(node, `${called} ${message} ${isOwn ? advice : 'Wrap it in a function of your own.'}`)],
  })
  if (!signature) return refuse('cannot be called.', '')
  if (overloads.length > 0) return refuse('has overloads.', 'Write one signature for the tool.')
  if (signature.typeParameters?.length)
    return refuse('has type parameters, which no call fills in.', 'Replace each with a type.')
  const reading = startReading(ts, program)
  const description = symbol && docsOf(ts, checker, symbol).description
  const isExplicit = given?.includes('parameters') === true
  const { parameters, call } = readParameters(reading, signature, { called, node, symbol, isExplicit })
  // with explicit parameters the types do not matter, but each parameter needs a name
  const isComplete = call.every((one) => !('argument' in one) || one.argument !== '')
  const mistakes = [
    ...(isExplicit && isComplete ? [] : reading.mistakes),
    ...missingTexts({ name, description, given }, called).map((message) => mistakeAt(node, message)),
  ]
  if (mistakes.length > 0) return { mistakes }
  const response = readResult(ts, program, signature, node)
  return {
    inferred: {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      parameters: isExplicit ? { type: 'object' } : parameters,
      ...(isExplicit && { needsParameters: true }),
      call: call satisfies readonly InferredParameter[],
      ...(response && { response }),
    },
  }
}

/** What a tool needs and the source does not have. Functions that are read without being used may get it from options. */
function missingTexts(
  {
    name,
    description,
    given,
  }: { name?: string | undefined; description?: string | undefined } & Pick<FunctionToRead, 'given'>,
  called: string,
): string[] {
  if (!given) return []
  const missing: string[] = []
  if (name === undefined && !given.includes('name'))
    missing.push("This function has no name. Assign it to a constant, or pass one: tool(fn, { name: 'get_weather' }).")
  if (description === undefined && !given.includes('description'))
    missing.push(
      `${called} has no doc comment, which tells the model what the tool does. Write one above it: /** Get the weather. */, or pass tool(fn, { description: '...' }).`,
    )
  return missing
}
