import type ts from 'typescript-classic'

/** Something in the source that cannot become a schema. */
export interface Mistake {
  /** The absolute path of the file. */
  readonly file: string
  /** The line, from 1. */
  readonly line: number
  /** The column, from 1. */
  readonly column: number
  /** What is wrong, and what to write instead. */
  readonly message: string
}

/** Creates a mistake at a node. */
export function mistakeAt(node: ts.Node, message: string): Mistake {
  const source = node.getSourceFile()
  const { line, character } = source.getLineAndCharacterOfPosition(node.getStart())
  return { file: source.fileName, line: line + 1, column: character + 1, message }
}
