import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { type Dependency, hashOf } from './cached-result.ts'

/** What a result depends on. */
export interface ResultSources {
  /** The compiler. */
  readonly ts: TypeScript
  /** The program that the file was read with. */
  readonly program: ts.Program
  /** The file whose functions were read. */
  readonly file: string
  /** The files outside of packages whose types were read. */
  readonly readFiles: readonly string[]
  /** The tsconfig.json of the project. Undefined if there is none. */
  readonly configFile: string | undefined
}

/**
 * Lists what a result depends on, besides the text of its file: the files whose types it reads, the settings of the project, and the
 * packages, by their package.json.
 */
export function dependenciesOf({ ts, program, file, readFiles, configFile }: ResultSources): Dependency[] {
  const packages = program.getSourceFiles().map(({ fileName }) => manifestOf(fileName))
  const globals = program.getSourceFiles().filter((source) => isGlobal(ts, program, source))
  const paths = new Set([
    ...readFiles,
    ...globals.map(({ fileName }) => fileName),
    ...configFiles(ts, file, configFile),
    ...[file, ...readFiles].map(nearestManifest).filter((path) => path !== undefined), // its "imports" decide what is read
    ...packages.filter((path) => path !== undefined),
  ])
  paths.delete(file)
  return [...paths].sort().map((path) => [path, hashFile(path)])
}

const hashes = new Map<string, { readonly version: string; readonly hash: string }>()

/** The hash of a file. Empty if it does not exist. Files that many results depend on are read once. */
export function hashFile(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) return ''
  const version = `${stats.mtimeMs}/${stats.size}/${stats.ino}`
  const known = hashes.get(path)
  if (known?.version === version) return known.hash
  const hash = hashOf(readFileSync(path, 'utf8'))
  hashes.set(path, { version, hash })
  return hash
}

/** Whether every file of the project sees what a file declares. */
function isGlobal(ts: TypeScript, program: ts.Program, source: ts.SourceFile): boolean {
  if (program.isSourceFileDefaultLibrary(source) || source.fileName.includes('/node_modules/')) return false
  return source.isDeclarationFile || !ts.isExternalModule(source)
}

/** The nearest package.json above a file of the project. */
function nearestManifest(file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'package.json')
    if (existsSync(path)) return path
  }
  return undefined
}

/** The package.json of the package that a file belongs to. */
function manifestOf(file: string): string | undefined {
  const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
  return folder && `${folder}/package.json`
}

/** The tsconfig.json, what it extends, and the nearer ones that do not exist yet. */
function configFiles(ts: TypeScript, file: string, configFile: string | undefined): string[] {
  const found: string[] = []
  const end = configFile === undefined ? undefined : dirname(configFile)
  for (let folder = dirname(file); folder !== end; folder = dirname(folder)) {
    found.push(join(folder, 'tsconfig.json'), join(folder, 'jsconfig.json'))
    if (folder === dirname(folder)) break
  }
  if (configFile === undefined) return found
  const json = ts.readJsonConfigFile(configFile, ts.sys.readFile)
  ts.parseJsonSourceFileConfigFileContent(json, { ...ts.sys, readDirectory: () => [] }, dirname(configFile))
  return [...found, configFile, ...(json.extendedSourceFiles ?? [])]
}
