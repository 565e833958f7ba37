import { type Node, parse, type Source } from '../source.ts'

/** A source file with its syntax tree. */
export interface ParsedFile extends Source {
  /** Root of the syntax tree. */
  readonly program: Node
  /** End offsets of the doc comments in the file. */
  readonly docEnds: ReadonlySet<number>
}

/** A named thing at a line of a file, with the number a figure measures for it. */
export interface Measurement {
  readonly file: string
  readonly line: number
  readonly name: string
  readonly value: number
}

export function parseFile(source: Source): ParsedFile {
  const { program, comments } = parse(source)
  const docs = comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'))
  return { ...source, program: program as unknown as Node, docEnds: new Set(docs.map(({ end }) => end)) }
}

/** Whether a doc comment ends right before the node. Lines with `//` in between, such as lint suppressions, are skipped. */
export function hasDocComment(file: ParsedFile, node: Node): boolean {
  const lines = file.text.slice(0, Number(node.start)).trimEnd().split('\n')
  while (lines.at(-1)?.trimStart().startsWith('//')) lines.pop()
  return file.docEnds.has(lines.join('\n').trimEnd().length)
}

/** Does the doc comment right before the node say `@internal`? */
export function isInternal({ text }: Pick<Source, 'text'>, node: Node): boolean {
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, Number(node.start)))
  return comment?.[1]?.includes('@internal') === true
}

export function lineOf(file: Source, node: Node): number {
  return file.text.slice(0, Number(node.start)).split('\n').length
}

/** Number of lines the node spans. */
export function lineCount(file: Source, node: Node): number {
  return file.text.slice(Number(node.start), Number(node.end)).split('\n').length
}

/** A measurement of one node. */
export function measure(file: Source, node: Node, name: string, value: number): Measurement {
  return { file: file.file, line: lineOf(file, node), name, value }
}
