import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import type { ProjectSettings } from './find-project.ts'
import { specifiersOf } from './read-files.ts'
import type { SourceFiles } from './source-files.ts'

/** The compiled types of a project. Files that did not change are parsed once. */
export class Project {
  /** Where the project is, and its compiler options. */
  readonly settings: ProjectSettings
  readonly #ts: TypeScript
  readonly #files: SourceFiles
  readonly #host: ts.CompilerHost
  readonly #parsed: Parameters<SourceFiles['parse']>[2] = new Map()
  readonly #roots: Set<string>
  #program: ts.Program | undefined
  /** Imports of the program that were not found. Their files may be created later. */
  #missing: { readonly specifier: string; readonly from: string }[] = []

  constructor(ts: TypeScript, settings: ProjectSettings, files: SourceFiles) {
    this.#ts = ts
    this.settings = settings
    this.#files = files
    this.#roots = new Set(settings.declarationFiles)
    this.#host = this.#createHost()
  }

  /** The program with this file, and with all other files as they are now. */
  programFor(file: string): ts.Program {
    const program = this.#program
    const isKnown = program?.getSourceFile(file) !== undefined
    if (!isKnown) this.#roots.add(file)
    if (program && this.#missing.some((one) => this.#isFound(one))) return this.#compile(undefined)
    return program && isKnown && !this.#hasChanges(program) ? program : this.#compile(program)
  }

  #compile(oldProgram: ts.Program | undefined): ts.Program {
    const { options, references } = this.settings
    const program = this.#ts.createProgram({
      rootNames: [...this.#roots],
      options,
      host: this.#host,
      ...(references.length > 0 && { projectReferences: references }),
      ...(oldProgram && { oldProgram }),
    })
    this.#program = program
    const checker = program.getTypeChecker()
    this.#missing = ownFiles(program).flatMap((source) =>
      specifiersOf(source)
        .filter((specifier) => !checker.getSymbolAtLocation(specifier))
        .map(({ text }) => ({ specifier: text, from: source.fileName }))
        .filter((one) => !this.#isFound(one)),
    )
    return program
  }

  #isFound({ specifier, from }: { specifier: string; from: string }): boolean {
    const { resolvedModule } = this.#ts.resolveModuleName(specifier, from, this.settings.options, this.#host)
    return resolvedModule !== undefined
  }

  /** Packages are not checked: they change only with an install, and then the process starts again. */
  #hasChanges(program: ts.Program): boolean {
    return ownFiles(program).some(
      ({ fileName }) => this.#parsed.get(fileName)?.version !== this.#files.version(fileName),
    )
  }

  #createHost(): ts.CompilerHost {
    const host = this.#ts.createCompilerHost(this.settings.options, true)
    const readFile = (file: string): string | undefined => this.#files.read(file)
    const getSourceFile: ts.CompilerHost['getSourceFile'] = (file, options) =>
      this.#files.parse(file, options, this.#parsed)
    const getCurrentDirectory = (): string => this.settings.folder // not that of the process, which may be any folder
    // Imports of another project of the repository are read from its source, because its output may not exist.
    const useSourceOfProjectReferenceRedirect = (): boolean => true
    return Object.assign(host, { readFile, getSourceFile, getCurrentDirectory, useSourceOfProjectReferenceRedirect })
  }
}

function ownFiles(program: ts.Program): ts.SourceFile[] {
  return program.getSourceFiles().filter(({ fileName }) => !fileName.includes('/node_modules/'))
}
