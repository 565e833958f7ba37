import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type ts from 'typescript-classic'
import { ToolwrightError } from '../../../core/error/error.ts'
import { findCompiler, missingCompilerError } from '../compiler/find-compiler.ts'
import { Projects } from '../project/projects.ts'
import type { Mistake } from '../types/mistake.ts'
import { readExportedFunctions } from './exported-functions.ts'
import { modulePath, moduleText } from './module-text.ts'
import { isUpToDate } from './read-module.ts'

/** The module for one source file. */
export interface WrittenModule {
  /** Where it belongs. */
  readonly path: string
  /** Its text. Empty if the source exports no function. */
  readonly text: string
  /** How many functions it attaches. */
  readonly count: number
  /** Whether the text of an existing module says the same. */
  isSameAs(existing: string): boolean
}

/** Infers the modules of several source files. Returns all mistakes together. */
export function inferModules(
  files: readonly string[],
  folder: string,
): { readonly modules: readonly WrittenModule[]; readonly mistakes: readonly Mistake[] } {
  const compiler = findCompiler(folder)
  if (!compiler) throw missingCompilerError(folder)
  const ts = compiler.load()
  const projects = new Projects(ts)
  const mistakes: Mistake[] = []
  const modules = files.map((name): WrittenModule => {
    const file = resolve(folder, name)
    const { program, settings } = projects.programFor(file, readSource(file, name))
    const source = program.getSourceFile(file)
    if (!source || !ts.isExternalModule(source))
      throw new ToolwrightError(
        'INVALID_CONFIG',
        `"${name}" is not an ES module. Export the functions: export function ...`,
      )
    const found = readExportedFunctions(ts, program, source)
    mistakes.push(...found.mistakes)
    const { functions } = found
    const module = { file, specifier: specifierFor(source, settings.importsTypeScript), functions }
    return {
      path: modulePath(file),
      text: functions.length === 0 ? '' : moduleText(module),
      count: functions.length,
      isSameAs: (existing) => isUpToDate(ts, program.getTypeChecker(), existing, module),
    }
  })
  return { modules, mistakes }
}

function readSource(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ToolwrightError('NOT_FOUND', `Cannot read "${name}". Check the path.`, { cause: error })
  }
}

/** How the module imports its source file: as the file imports others, else as the project allows. */
function specifierFor(source: ts.SourceFile, importsTypeScript: boolean): string {
  const name = basename(source.fileName)
  const used = /from\s+['"]\.{1,2}\/[^'"]*?(\.[cm]?[tj]sx?)?['"]/.exec(source.text)
  const usesTypeScript = used ? /ts/.test(used[1] ?? '') : importsTypeScript
  if (used && used[1] === undefined) return `./${name.replace(/\.[cm]?[tj]sx?$/, '')}`
  return `./${usesTypeScript ? name : name.replace(/\.([cm]?)tsx?$/, '.$1js')}`
}
