import type ts from 'typescript-classic'
import { isContextMember, isContextType } from '../functions/toolwright-types.ts'
import type { Reading } from './reading.ts'

/** Why an object type cannot be a schema, and what to write instead. Undefined if it can. */
export function objectProblem(reading: Reading, type: ts.Type): string | undefined {
  if (type.isIntersection()) {
    const problems = type.types.map((part) => objectProblem(reading, part))
    return problems.find((problem) => problem !== undefined)
  }
  const { ts, program, checker } = reading
  const { symbol } = type
  const isFunction = type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0
  if (isFunction) return 'a function, which a model cannot send. Remove it, or import the function in the body.'
  if (!symbol) return undefined
  if (isContextType(type))
    return 'the context of the call. Make it a parameter of its own: (args: Args, context: ToolContext).'
  // a model could fill in an approval
  if (checker.getPropertiesOfType(type).some(isContextMember))
    return 'a part of the context of the call. Write ToolContext as the type of a parameter.'
  const text = checker.typeToString(type)
  const isBuiltIn = symbol.declarations?.some((node) => isPlatformFile(program, node.getSourceFile()))
  const isInterface = (symbol.flags & ts.SymbolFlags.Interface) !== 0
  if (isBuiltIn && isInterface) {
    const instead = BUILT_IN_ADVICE.get(symbol.name) ?? 'an object with its data'
    return `${text}, which JSON cannot carry. Use ${instead}.`
  }
  if (symbol.flags & ts.SymbolFlags.Class)
    return `an instance of the class ${text}, which JSON cannot carry. Use an interface with its data, and create the instance in the body.`
  return undefined
}

/** Whether a file belongs to the library of the compiler or to the types of Node. */
function isPlatformFile(program: ts.Program, source: ts.SourceFile): boolean {
  return program.isSourceFileDefaultLibrary(source) || source.fileName.includes('/node_modules/@types/node/')
}

const BUILT_IN_ADVICE: ReadonlyMap<string, string> = new Map([
  ['Map', 'Record<string, ...>'],
  ['ReadonlyMap', 'Record<string, ...>'],
  ['Set', 'an array'],
  ['ReadonlySet', 'an array'],
  ['RegExp', 'a string'],
  ['URL', 'a string with the tag @format uri'],
  ['ArrayBuffer', 'Uint8Array'],
  ['Buffer', 'Uint8Array'],
  ['Blob', 'Uint8Array'],
  ['File', 'Uint8Array'],
  ['Promise', 'the type of its value'],
  ['AbortSignal', 'context.signal'],
  ['Function', 'the data that it needs'],
  ['String', 'string'],
  ['Number', 'number'],
  ['Boolean', 'boolean'],
  ['Object', 'object'],
])
