// Reads all fixtures with one program.
import { join } from 'node:path'
import type ts from 'typescript-classic'
import { findCompiler, type TypeScript } from '../../../src/apps/infer/compiler/find-compiler.ts'
import { readFunction } from '../../../src/apps/infer/functions/read-function.ts'
import { resolveFunction } from '../../../src/apps/infer/functions/resolve-function.ts'
import type { Mistake } from '../../../src/apps/infer/types/mistake.ts'
import type { InferredFunction } from '../../../src/engine/tool/functions/inferred-function.ts'

/** The files with signatures, in the folder `fixtures`. */
export const TOPICS = ['names', 'tags', 'objects', 'positional', 'values', 'results'] as const

/** The folder of the fixtures. */
export const FIXTURES: string = join(import.meta.dirname, 'fixtures')

/** A signature of a fixture. */
export interface Signature {
  /** How another file calls it: `names.Desk.open`. */
  readonly key: string
  readonly inferred: InferredFunction
  /** The types of the parameters as they are written. */
  readonly typeTexts: readonly (string | undefined)[]
}

/** What was read. */
export interface Table {
  readonly signatures: readonly Signature[]
  readonly mistakes: readonly Mistake[]
}

/** The compiler that reads the fixtures. */
export function compiler(): TypeScript {
  const found = findCompiler(import.meta.dirname)
  if (!found) throw new Error('There is no compiler.')
  return found.load()
}

/** How fixtures are read. */
export interface ReadOptions {
  /** A fixture whose types the compiler sees before all others. */
  readonly seenFirst?: string
  /** Read the fixtures as if they had the line ends of Windows. */
  readonly hasWindowsLines?: boolean
}

/** Reads fixtures with one program. */
export function readTable(topics: readonly string[] = TOPICS, options: ReadOptions = {}): Table {
  const { seenFirst, hasWindowsLines = false } = options
  const ts = compiler()
  const files = new Map(topics.map((topic) => [topic, join(FIXTURES, `${topic}.ts`)]))
  const prelude = seenFirst === undefined ? [] : [join(FIXTURES, `${seenFirst}.ts`)]
  const program = createProgram(ts, [...prelude, ...files.values()], hasWindowsLines)
  for (const file of prelude) program.getSemanticDiagnostics(program.getSourceFile(file))
  const signatures: Signature[] = []
  const mistakes: Mistake[] = []
  for (const [topic, file] of files) {
    const source = program.getSourceFile(file)
    if (!source) throw new Error(`${file} was not read.`)
    for (const { path, node, type } of functionsOf(ts, program.getTypeChecker(), source)) {
      const resolved = resolveFunction(ts, program.getTypeChecker(), node)
      const read = readFunction(ts, program, { node, type, ...(resolved && 'type' in resolved && resolved) })
      if ('mistakes' in read) mistakes.push(...read.mistakes)
      else signatures.push({ key: `${topic}.${path}`, inferred: read.inferred, typeTexts: typeTexts(ts, type) })
    }
  }
  return { signatures, mistakes }
}

const parsed = new Map<string, ts.SourceFile | undefined>()

/** Creates a program with the settings of the fixtures. All programs share the files that did not change: parsing takes most of the time. */
export function createProgram(ts: TypeScript, rootNames: readonly string[], hasWindowsLines = false): ts.Program {
  const options = compilerOptions(ts)
  const host = ts.createCompilerHost(options, true)
  const { getSourceFile } = host
  host.getSourceFile = (file, language, ...rest) => {
    if (hasWindowsLines && file.startsWith(FIXTURES))
      return ts.createSourceFile(file, (ts.sys.readFile(file) ?? '').replaceAll('\n', '\r\n'), language, true)
    if (rootNames.includes(file) && !file.startsWith(FIXTURES)) return getSourceFile(file, language, ...rest)
    if (!parsed.has(file)) parsed.set(file, getSourceFile(file, language, ...rest))
    return parsed.get(file)
  }
  return ts.createProgram({ rootNames, options, host })
}

/** The settings of the fixtures. */
export function compilerOptions(ts: TypeScript): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(FIXTURES, 'tsconfig.json'), ts.sys.readFile)
  return ts.parseJsonConfigFileContent(config, ts.sys, FIXTURES).options
}

function typeTexts(ts: TypeScript, type: ts.Type): (string | undefined)[] {
  return (type.getCallSignatures()[0]?.parameters ?? []).map(({ valueDeclaration }) =>
    valueDeclaration && ts.isParameter(valueDeclaration) ? valueDeclaration.type?.getText() : undefined,
  )
}

interface Found {
  readonly path: string
  readonly node: ts.Identifier
  readonly type: ts.Type
}

/** The exported functions, static methods, and functions of exported objects. */
function functionsOf(ts: TypeScript, checker: ts.TypeChecker, source: ts.SourceFile): Found[] {
  const module = checker.getSymbolAtLocation(source)
  return module ? checker.getExportsOfModule(module).flatMap((symbol) => ofSymbol(symbol, symbol.name)) : []

  function ofSymbol(found: ts.Symbol, path: string): Found[] {
    const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
    const declaration = symbol.valueDeclaration
    const node = declaration && ts.getNameOfDeclaration(declaration)
    if (!node || !ts.isIdentifier(node) || node.text === 'prototype') return []
    const type = checker.getTypeOfSymbol(symbol)
    const isClass = type.getConstructSignatures().length > 0
    if (!isClass && type.getCallSignatures().length > 0) return [{ path, node, type }]
    const members =
      isClass ||
      (ts.isVariableDeclaration(declaration) && declaration.initializer?.kind === ts.SyntaxKind.ObjectLiteralExpression)
    return members
      ? checker.getPropertiesOfType(type).flatMap((member) => ofSymbol(member, `${path}.${member.name}`))
      : []
  }
}
