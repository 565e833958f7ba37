import { isNode, type Node } from '../source.ts'
import { hasDocComment, type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/** A function, class, interface, type or constant that a file exports. A re-export is not one. */
export interface ExportedDeclaration {
  readonly file: ParsedFile
  readonly name: string
  readonly node: Node
  readonly isDocumented: boolean
}

/** Every exported declaration with the value 1 if it has a doc comment and 0 if not. */
export function documentedExports(files: readonly ParsedFile[]): Measurement[] {
  return files
    .flatMap(exportedDeclarations)
    .map(({ file, name, node, isDocumented }) => measure(file, node, name, isDocumented ? 1 : 0))
}

/** One per name: the doc comment of one overload counts for all. */
export function exportedDeclarations(file: ParsedFile): ExportedDeclaration[] {
  const all = (file.program.body as Node[]).flatMap((statement) => declarationsIn(file, statement))
  const exportedByName = new Set((file.program.body as Node[]).flatMap(localExportNames))
  const exported = all.filter(({ isExported, name }) => isExported || exportedByName.has(name))
  return [...Map.groupBy(exported, ({ name }) => name).values()].flatMap((group) => {
    const isDocumented = group.some((each) => each.isDocumented)
    // A type and a value may share a name, and so may an interface and its extension: each keeps its members.
    return group
      .filter(({ node }, index) => index === 0 || !/Function$|FunctionDeclaration$/.test(node.type))
      .map(({ name, node }) => ({ file, name, node, isDocumented }))
  })
}

interface Declaration extends ExportedDeclaration {
  readonly isExported: boolean
}

function declarationsIn(file: ParsedFile, statement: Node): Declaration[] {
  const isExported = /^Export(Named|Default)Declaration$/.test(statement.type)
  const declaration = isExported ? statement.declaration : statement
  if (!isNode(declaration)) return []
  const nodes = declaration.type === 'VariableDeclaration' ? (declaration.declarations as Node[]) : [declaration]
  return nodes
    .filter((node) => isNode(node.id) && node.id.type === 'Identifier')
    .map((node) => ({
      file,
      name: String((node.id as Node).name),
      node,
      isDocumented: hasDocComment(file, statement) || hasDocComment(file, node),
      isExported,
    }))
}

/** Names in `export { a, b }`, without those from other files. */
function localExportNames(statement: Node): string[] {
  if (statement.type !== 'ExportNamedDeclaration' || isNode(statement.source)) return []
  return (statement.specifiers as Node[]).map(({ local }) => String((local as Node).name))
}
