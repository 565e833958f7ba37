import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import type { ProjectSettings } from '../project/find-project.ts'
import { absentPaths } from './absent-paths.ts'
import { declarationNames } from './declaration-names.ts'
import { type Dependencies, type FileHash, hashFile } from './dependencies.ts'

/** What a result was read from. */
interface ResultSources {
  /** The compiler. */
  readonly ts: TypeScript
  /** The program that the file was read with. */
  readonly program: ts.Program
  /** The file whose functions were read. */
  readonly file: string
  /** The files outside of packages whose types were read. */
  readonly readFiles: readonly string[]
  /** The settings of the project. */
  readonly settings: ProjectSettings
}

/** Lists what a result depends on, besides the text of its file. */
export function listDependencies({ ts, program, file, readFiles, settings }: ResultSources): Dependencies {
  const sources = program.getSourceFiles()
  const globals = sources.filter((source) => isGlobal(ts, program, source))
  const folders = new Set([file, ...readFiles].map((path) => dirname(path)))
  const paths = new Set([
    ...readFiles,
    ...globals.map(({ fileName }) => fileName),
    ...sources.flatMap(({ fileName }) => manifestOf(fileName) ?? []),
    ...[...folders].flatMap(nearestManifests), // "imports" and "type" decide what is read
    ...configFiles(ts, file, settings.configFile),
  ])
  paths.delete(file)
  const hashed = [...paths].sort().map((path): FileHash => [path, hashFile(path)])
  const missing = hashed.filter(([, hash]) => hash === '').map(([path]) => path)
  const { included, ignored } = settings
  return {
    files: hashed.filter(([, hash]) => hash !== ''),
    absent: [...missing, ...absentPaths(ts, program, [file, ...readFiles], settings)],
    included,
    ignored,
    declarations: namesOf(settings),
  }
}

const names = new WeakMap<ProjectSettings['included'], string>()

/** The declaration files of a project. Listed once, like its settings are read once: a program does not see one that is added later. */
function namesOf({ included, ignored }: ProjectSettings): string {
  const known = names.get(included) ?? declarationNames(included, ignored)
  names.set(included, known)
  return known
}

/** Whether every file of the project sees what a file declares. */
function isGlobal(ts: TypeScript, program: ts.Program, source: ts.SourceFile): boolean {
  if (program.isSourceFileDefaultLibrary(source) || source.fileName.includes('/node_modules/')) return false
  return source.isDeclarationFile || !ts.isExternalModule(source)
}

/** The nearest package.json of a folder of the project, and the nearer ones that do not exist yet. */
function nearestManifests(start: string): string[] {
  const found: string[] = []
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    found.push(join(folder, 'package.json'))
    if (existsSync(join(folder, 'package.json'))) break
  }
  return found
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
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    found.push(join(folder, 'tsconfig.json'), join(folder, 'jsconfig.json'))
    if (folder === end || folder === dirname(folder)) break
  }
  if (configFile === undefined) return found
  const json = ts.readJsonConfigFile(configFile, ts.sys.readFile)
  ts.parseJsonSourceFileConfigFileContent(json, { ...ts.sys, readDirectory: () => [] }, dirname(configFile))
  return [...found, configFile, ...(json.extendedSourceFiles ?? [])]
}
