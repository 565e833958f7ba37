import { statSync } from 'node:fs'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

interface ParsedFile {
  /** Changes when the file changes: its time and size, or the text that a bundler has for it. */
  readonly version: string
  readonly source: ts.SourceFile
}

/** The parsed declaration files of this process, by compiler. */
const declarations = new WeakMap<TypeScript, Map<string, ParsedFile>>()

/** The files that all projects read. Declaration files are parsed once for all of them: most projects read the same packages. */
export class SourceFiles {
  readonly #ts: TypeScript
  /** The text of files that a bundler or Node has loaded and that differs from the disk. */
  readonly #texts = new Map<string, string>()
  readonly #declarations: Map<string, ParsedFile>

  constructor(ts: TypeScript) {
    this.#ts = ts
    this.#declarations = declarations.get(ts) ?? new Map()
    declarations.set(ts, this.#declarations)
  }

  /** Sets the text of a file, which may be newer than the disk. */
  setText(file: string, text: string): void {
    if (this.#ts.sys.readFile(file) === text) this.#texts.delete(file)
    else this.#texts.set(file, text)
  }

  /** Reads the text of a file. */
  read(file: string): string | undefined {
    return this.#texts.get(file) ?? this.#ts.sys.readFile(file)
  }

  /** The version of a file now. */
  version(file: string): string {
    const text = this.#texts.get(file)
    if (text !== undefined) return text
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats ? `${stats.mtimeMs}/${stats.size}` : 'deleted'
  }

  /** Parses a file, unless `parsed` or another project has this version of it. */
  parse(
    file: string,
    options: ts.ScriptTarget | ts.CreateSourceFileOptions,
    parsed: Map<string, ParsedFile>,
  ): ts.SourceFile | undefined {
    const isShared = /\.d\.[cm]?ts$/.test(file)
    const known = isShared ? this.#declarations : parsed
    const { languageVersion, impliedNodeFormat = '' } =
      typeof options === 'object' ? options : { languageVersion: options }
    const key = isShared ? `${file} ${languageVersion} ${impliedNodeFormat}` : file
    const version = this.version(file)
    const found = known.get(key)
    if (found?.version === version) return parsed.set(file, found) && found.source
    const text = this.read(file)
    if (text === undefined) return undefined
    const source = this.#ts.createSourceFile(file, text, options, true)
    known.set(key, { version, source })
    parsed.set(file, { version, source })
    return source
  }
}
