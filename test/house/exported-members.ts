import { isNode, type Node } from '../source.ts'
import { memberName, publicMembers } from './class-members.ts'
import { type ExportedDeclaration, exportedDeclarations } from './exported-declarations.ts'
import { hasDocComment, type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/**
 * Every public member of an exported class, interface or object type, with the value 1 if it has a doc comment and 0
 * if not. A class member counts as documented if the interface that the class implements documents it.
 */
export function documentedMembers(files: readonly ParsedFile[]): Measurement[] {
  const exported = files.flatMap(exportedDeclarations)
  const documented = documentedNames(exported)
  return exported.flatMap((declaration) => {
    const { file, name, node } = declaration
    const inherited = implementedNames(node).flatMap((type) => [...inheritedNames(type, documented)])
    return [...members(node)]
      .filter(([member]) => !member.startsWith('[Symbol.'))
      .map(([member, nodes]) => {
        const isDocumented = inherited.includes(member) || nodes.some((each) => hasDocComment(file, each))
        return measure(file, nodes[0] ?? node, `${name}.${member}`, isDocumented ? 1 : 0)
      })
  })
}

interface DocumentedType {
  readonly members: ReadonlySet<string>
  readonly bases: readonly string[]
}

/** The documented members of each interface and object type, and the names of the types it extends. */
function documentedNames(declarations: readonly ExportedDeclaration[]): Map<string, DocumentedType> {
  const found = new Map<string, DocumentedType>()
  for (const { file, name, node } of declarations) {
    if (node.type === 'ClassDeclaration') continue
    const names = [...members(node)].filter(([, nodes]) => nodes.some((each) => hasDocComment(file, each)))
    const bases = Array.isArray(node.extends) ? node.extends.map(typeName) : []
    found.set(name, { members: new Set(names.map(([member]) => member)), bases })
  }
  return found
}

function inheritedNames(type: string, documented: ReadonlyMap<string, DocumentedType>): Set<string> {
  const { members, bases } = documented.get(type) ?? { members: [], bases: [] }
  return new Set([...members, ...bases.flatMap((base) => [...inheritedNames(base, documented)])])
}

const implementedNames = (node: Node): string[] => (Array.isArray(node.implements) ? node.implements.map(typeName) : [])

function typeName(heritage: unknown): string {
  const expression = isNode(heritage) ? heritage.expression : undefined
  return isNode(expression) ? String(expression.name) : ''
}

function members(node: Node): Map<string, Node[]> {
  if (node.type === 'ClassDeclaration') return publicMembers(node)
  const found = node.type === 'TSInterfaceDeclaration' ? ((node.body as Node).body as Node[]) : []
  if (node.type === 'TSTypeAliasDeclaration') found.push(...typeMembers(node.typeAnnotation as Node))
  return Map.groupBy(
    found.filter((member) => isNode(member.key)),
    memberName,
  )
}

/** The members of an object type. The variants of a union describe each other and are left out. */
function typeMembers(type: Node): Node[] {
  if (type.type === 'TSTypeLiteral') return type.members as Node[]
  return type.type === 'TSIntersectionType' ? (type.types as Node[]).flatMap(typeMembers) : []
}
