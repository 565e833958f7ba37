import { resolve } from 'node:path'
import { ToolwrightError } from '../../core/error/error.ts'
import { findCacheFolder, readCached, writeCached } from './cache/cache-folder.ts'
import { type CachedResult, formatResult, parseResult } from './cache/cached-result.ts'
import { createCurrentCheck, type Dependencies } from './cache/dependencies.ts'
import { hashOf } from './cache/hash.ts'
import { listDependencies } from './cache/list-dependencies.ts'
import { type FoundCompiler, findCompiler, missingCompilerError } from './compiler/find-compiler.ts'
import { isToolwrightFile } from './functions/toolwright-types.ts'
import type { Inferrer, TransformedFile } from './inferrer.ts'
import { emit } from './output/emit.ts'
import { findToolFunctions } from './positions/find-tool-functions.ts'
import { lookForFunctions, mentionsTools } from './positions/may-use-functions.ts'
import { Projects } from './project/projects.ts'
import { readFiles } from './project/read-files.ts'
import { describeMistakes } from './types/describe-mistakes.ts'

/** Options of `createInferrer()`. */
interface InferrerOptions {
  /** The folder of the project, in which the compiler is looked up. Default: the current directory. */
  readonly folder?: string | undefined
  /** Keep results in node_modules/.cache/toolwright/infer. Default true. */
  readonly cache?: boolean | undefined
  /** Fail at once if there is no compiler. Default false: fail when a file needs one. */
  readonly requireCompiler?: boolean | undefined
  /** Finds the compiler. Default: the one that is installed in the folder, or beside this package. */
  readonly findCompiler?: ((folder: string) => FoundCompiler | undefined) | undefined
}

/** Creates the transform that all entry points of `toolwright/infer` use. */
export function createInferrer(options: InferrerOptions = {}): Inferrer {
  const find = options.findCompiler ?? findCompiler
  // found at once, loaded when a result is not in the cache
  const folder = options.folder ?? process.cwd()
  const compiler = find(folder)
  if (!compiler && options.requireCompiler) throw missingCompilerError(folder)
  return new FileInferrer(compiler, folder, options.cache ?? true)
}

/** A result that the compiler gave, and what it depends on. */
interface ReadResult {
  readonly result: CachedResult
  dependencies(): Dependencies
}

class FileInferrer implements Inferrer {
  readonly #compiler: FoundCompiler | undefined
  readonly #folder: string
  readonly #useCache: boolean
  readonly #isCurrent = createCurrentCheck()
  readonly #readFiles = new Map<string, readonly string[]>()
  #projects: Projects | undefined

  constructor(compiler: FoundCompiler | undefined, folder: string, useCache: boolean) {
    this.#compiler = compiler
    this.#folder = folder
    this.#useCache = useCache
  }

  readFiles(file: string): readonly string[] {
    return this.#readFiles.get(resolve(file)) ?? []
  }

  transform(file: string, source: string): TransformedFile | undefined {
    const path = resolve(file)
    if (!mentionsTools(source) || isToolwrightFile(path)) return undefined
    const result = this.#read(path, source)
    this.#readFiles.set(path, result.readFiles)
    return result.attachments.length === 0 ? undefined : emit(path, source, result.attachments)
  }

  #read(path: string, source: string): CachedResult {
    const folder = this.#useCache ? findCacheFolder(path, 'infer') : undefined
    const name = `${hashOf(path)}.json`
    const text = folder && readCached(folder, name)
    const known = text === undefined ? undefined : parseResult(text, source, this.#isCurrent)
    if (known) return known
    const { mayUseFunctions, readFiles } = lookForFunctions(path, source)
    this.#readFiles.set(path, readFiles)
    if (!mayUseFunctions) return { attachments: [], readFiles }
    try {
      const { result, dependencies } = this.#readSource(path, source)
      if (folder) writeCached(folder, name, formatResult(source, result, dependencies()))
      return result
    } catch (error) {
      // The compiler cannot read an expression of thousands of terms, which Node can run.
      if (error instanceof RangeError) return { attachments: [], readFiles: this.readFiles(path) }
      throw error
    }
  }

  #readSource(path: string, source: string): ReadResult {
    if (!this.#compiler) throw missingCompilerError(this.#folder)
    const ts = this.#compiler.load()
    this.#projects ??= new Projects(ts)
    const { program, settings } = this.#projects.programFor(path, source)
    const parsed = program.getSourceFile(path)
    const files = parsed ? readFiles(program, parsed) : []
    this.#readFiles.set(path, files) // also when a mistake follows: a watcher waits for its correction
    // Node and bundlers report syntax errors themselves
    const isReadable = parsed && ts.isExternalModule(parsed) && program.getSyntacticDiagnostics(parsed).length === 0
    const { attachments, mistakes } = isReadable
      ? findToolFunctions(ts, program, parsed)
      : { attachments: [], mistakes: [] }
    if (mistakes.length > 0) throw new ToolwrightError('INVALID_CONFIG', describeMistakes(mistakes))
    return {
      result: { attachments, readFiles: files },
      dependencies: () => listDependencies({ ts, program, file: path, readFiles: files, settings }),
    }
  }
}
