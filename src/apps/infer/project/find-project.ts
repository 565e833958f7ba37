import { dirname, resolve } from 'node:path'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { defaultOptions, readingOptions } from './reading-options.ts'

/** The settings of the project that a file belongs to. */
export interface ProjectSettings {
  /** The tsconfig.json. Undefined if there is none. */
  readonly configFile: string | undefined
  /** The folder of the project, in which packages with global types are looked up. */
  readonly folder: string
  /** The compiler options, with those that reading types needs. */
  readonly options: ts.CompilerOptions
  /** Whether the project itself allows imports such as `./tools.ts`. */
  readonly importsTypeScript: boolean
  /** Declaration files that the project includes. They may declare global types. */
  readonly declarationFiles: readonly string[]
  /** The folders in which the project includes files. */
  readonly included: readonly IncludedFolder[]
  /** The folders for the output of the project. */
  readonly ignored: readonly string[]
  /** The projects that the project refers to. */
  readonly references: readonly ts.ProjectReference[]
}

/** A folder in which the project includes files. */
export interface IncludedFolder {
  /** The absolute path. */
  readonly path: string
  /** Whether the folders in it are included, too. */
  readonly isRecursive: boolean
}

/** A tsconfig.json with the files that it includes. */
interface ParsedConfig {
  /** Its path. */
  readonly configFile: string
  /** The compiler options as they are written. */
  readonly options: ts.CompilerOptions
  /** The absolute paths of the files that it includes. */
  readonly fileNames: ReadonlySet<string>
  /** The folders in which it includes files. */
  readonly included: readonly IncludedFolder[]
  /** The projects that it refers to. */
  readonly references: readonly ts.ProjectReference[]
}

/** The configs that were parsed, by path. Parsing one lists the folders of the project. */
export type ParsedConfigs = Map<string, ParsedConfig | undefined>

/**
 * Finds the nearest tsconfig.json or jsconfig.json above a file. If it only lists other projects, finds the one that includes the
 * file.
 */
export function findProject(ts: TypeScript, file: string, configs: ParsedConfigs = new Map()): ProjectSettings {
  const nearest = nearestConfig(ts, dirname(file))
  const parsed = nearest === undefined ? undefined : (including(ts, nearest, file, configs) ?? configs.get(nearest))
  if (!parsed)
    return {
      configFile: undefined,
      folder: dirname(file),
      options: defaultOptions(ts),
      importsTypeScript: true,
      declarationFiles: [],
      included: [],
      ignored: [],
      references: [],
    }
  const { allowImportingTsExtensions, rewriteRelativeImportExtensions, outDir, declarationDir } = parsed.options
  return {
    configFile: parsed.configFile,
    folder: dirname(parsed.configFile),
    options: readingOptions(ts, parsed.options),
    importsTypeScript: Boolean(allowImportingTsExtensions || rewriteRelativeImportExtensions),
    declarationFiles: [...parsed.fileNames].filter((name) => /\.d\.[cm]?ts$/.test(name)),
    included: parsed.included,
    ignored: [outDir, declarationDir].filter((folder) => folder !== undefined),
    references: parsed.references,
  }
}

function nearestConfig(ts: TypeScript, folder: string): string | undefined {
  const found = ['tsconfig.json', 'jsconfig.json'].map((name) => ts.findConfigFile(folder, ts.sys.fileExists, name))
  const [typed, plain] = found
  if (typed === undefined || plain === undefined) return typed ?? plain
  return dirname(plain).length > dirname(typed).length ? plain : typed
}

/** The project that includes the file: this one, or one that it refers to, directly or through others. */
function including(ts: TypeScript, from: string, file: string, configs: ParsedConfigs): ParsedConfig | undefined {
  const seen = new Set<string>()
  const open = [from]
  for (let configFile = open.shift(); configFile !== undefined; configFile = open.shift()) {
    if (seen.has(configFile)) continue
    seen.add(configFile)
    if (!configs.has(configFile)) configs.set(configFile, parse(ts, configFile))
    const parsed = configs.get(configFile)
    if (parsed?.fileNames.has(file)) return parsed
    open.push(...(parsed?.references ?? []).map((reference) => resolve(ts.resolveProjectReferencePath(reference))))
  }
  return undefined
}

function parse(ts: TypeScript, configFile: string): ParsedConfig | undefined {
  const { config } = ts.readConfigFile(configFile, ts.sys.readFile)
  if (config === undefined) return undefined
  const {
    options,
    fileNames,
    projectReferences,
    wildcardDirectories = {},
  } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(configFile), undefined, configFile)
  const names = new Set(fileNames.map((name) => resolve(name)))
  const included = Object.entries(wildcardDirectories).map(([path, flags]) => ({
    path: resolve(path),
    isRecursive: (flags & ts.WatchDirectoryFlags.Recursive) !== 0,
  }))
  return { configFile, options, fileNames: names, included, references: projectReferences ?? [] }
}
