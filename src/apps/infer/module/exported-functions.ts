import type ts from 'typescript-classic'
import type { InferredFunction } from '../../../engine/tool/functions/inferred-function.ts'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { makesTools } from '../functions/makes-tools.ts'
import { readFunction } from '../functions/read-function.ts'
import { resolveSymbol } from '../functions/resolve-function.ts'
import { isPlainFunction } from '../positions/accepts-functions.ts'
import type { Mistake } from '../types/mistake.ts'

/** A function that a module exports. */
export interface ExportedFunction {
  /** The exported name, `default` included. */
  readonly exportName: string
  /** The static method of an exported class. */
  readonly method?: string
  /** What its source says. */
  readonly inferred: InferredFunction
}

/** What a module exports. */
interface ExportedFunctions {
  /** The functions, in the order of the exports. */
  readonly functions: readonly ExportedFunction[]
  /** What cannot become a tool. */
  readonly mistakes: readonly Mistake[]
}

/** Reads all exported functions and static methods of a module. The tag `@internal` leaves one out. */
export function readExportedFunctions(ts: TypeScript, program: ts.Program, source: ts.SourceFile): ExportedFunctions {
  const checker = program.getTypeChecker()
  const functions: ExportedFunction[] = []
  const mistakes: Mistake[] = []
  const module = checker.getSymbolAtLocation(source)
  for (const exported of module ? checker.getExportsOfModule(module) : []) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    if (!(symbol.flags & ts.SymbolFlags.Value) || isInternal(symbol)) continue
    const type = checker.getTypeOfSymbolAtLocation(symbol, source)
    if (isPlainFunction(type)) add({ exportName: exported.name }, symbol, type)
    else if (symbol.flags & ts.SymbolFlags.Class) addStaticMethods(exported.name, type)
  }
  return { functions, mistakes }

  function addStaticMethods(exportName: string, type: ts.Type): void {
    for (const member of checker.getPropertiesOfType(type)) {
      const declaration = member.valueDeclaration
      if (!declaration || isInternal(member) || !ts.isClassElement(declaration)) continue
      const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
      if (ts.getCombinedModifierFlags(declaration) & hidden || member.name.startsWith('__#')) continue
      const method = checker.getTypeOfSymbolAtLocation(member, source)
      if (isPlainFunction(method)) add({ exportName, method: member.name }, member, method)
    }
  }

  function add(name: Pick<ExportedFunction, 'exportName' | 'method'>, symbol: ts.Symbol, type: ts.Type): void {
    if (makesTools(checker, type)) return // a module may export functions that make tools
    const node = symbol.valueDeclaration ?? source
    const resolved = resolveSymbol(ts, checker, symbol)
    const found = resolved && 'type' in resolved ? resolved : { type, symbol }
    const read = readFunction(ts, program, { node, ...found })
    if ('mistakes' in read) mistakes.push(...read.mistakes)
    else functions.push({ ...name, inferred: read.inferred })
  }

  function isInternal(symbol: ts.Symbol): boolean {
    return symbol.getJsDocTags(checker).some(({ name }) => name === 'internal')
  }
}
