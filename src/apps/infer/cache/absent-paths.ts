import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import type { ProjectSettings } from '../project/find-project.ts'
import { specifiersOf } from '../project/read-files.ts'

/** The paths of each import that were looked up in vain, by program, because many files are read with one. */
const known = new WeakMap<ts.Program, Map<string, readonly string[]>>()

/**
 * The paths where the compiler looks for the imports of files before it finds them: those of other extensions, of earlier entries of
 * `paths`, and of nearer packages. A file that is created there is imported instead.
 */
export function absentPaths(
  ts: TypeScript,
  program: ts.Program,
  files: readonly string[],
  { options, folder }: ProjectSettings,
): readonly string[] {
  const missed = known.get(program) ?? new Map<string, readonly string[]>()
  known.set(program, missed)
  const found = new Set<string>()
  for (const file of new Set(files)) {
    const source = program.getSourceFile(file)
    for (const { text } of source ? specifiersOf(source) : []) {
      const key = `${dirname(file)}\n${text}\n${source?.impliedNodeFormat}`
      const paths = missed.get(key) ?? lookUp(text, file, source?.impliedNodeFormat)
      missed.set(key, paths)
      for (const path of paths) found.add(path)
    }
  }
  return [...found].sort()

  function lookUp(specifier: string, from: string, mode: ts.ResolutionMode): readonly string[] {
    const paths = new Set<string>()
    // without `directoryExists`, also paths in folders that do not exist are looked up
    const host: ts.ModuleResolutionHost = {
      fileExists: (path) => {
        const isFound = ts.sys.fileExists(path)
        const absent = isFound ? undefined : firstAbsent(path)
        if (absent !== undefined) paths.add(absent)
        return isFound
      },
      readFile: ts.sys.readFile,
      getCurrentDirectory: () => folder,
    }
    ts.resolveModuleName(specifier, from, options, host, undefined, undefined, mode)
    return [...paths]
  }
}

/** What has to be created first before a path can exist. Undefined for a path in an installed package, which changes with its version. */
function firstAbsent(path: string): string | undefined {
  const [, modules, name] = /^(.*\/node_modules)\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
  if (modules === undefined) return path
  return [modules, `${modules}/${name}`].find((folder) => !existsSync(folder))
}
