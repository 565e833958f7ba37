/** A file after the transform. */
export interface TransformedFile {
  /** The code. Lines keep their numbers: columns of a line with a tool function may move. */
  readonly code: string
  /** The source map from `code` to the file, as JSON. It does not contain the file: Node loads a small map faster. */
  readonly map: string
}

/** Transforms source files so that plain functions in them can be used as tools. Keeps the compiled types between calls. */
export interface Inferrer {
  /**
   * Transforms a file. Returns undefined if the file uses no plain function as a tool. Throws INVALID_CONFIG with all mistakes of
   * the file, each with file, line, column and what to write instead; throws MISSING_PEER if there is no TypeScript compiler.
   *
   * @param file The absolute path.
   * @param source The text of the file, which may be newer than the file on disk.
   */
  transform(file: string, source: string): TransformedFile | undefined
  /**
   * The files outside of node_modules that the last transform of a file has read, as absolute paths, also when it failed. A change
   * of one of them needs a new transform.
   */
  readFiles(file: string): readonly string[]
}
