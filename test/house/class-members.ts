import { isNode, type Node, visit } from '../source.ts'
import { isInternal, type Measurement, measure, type ParsedFile } from './parsed-file.ts'

/** The number of public methods, accessors and fields of each class. */
export function membersPerClass(files: readonly ParsedFile[]): Measurement[] {
  return files.flatMap((file) => {
    const found: Measurement[] = []
    visit(file.program, (node) => {
      if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return
      const name = isNode(node.id) ? String(node.id.name) : 'class'
      found.push(measure(file, node, name, publishedMembers(file, node)))
    })
    return found
  })
}

/** How many members the declarations of the package have: those marked `@internal` are stripped. */
function publishedMembers(file: ParsedFile, node: Node): number {
  return [...publicMembers(node).values()].filter((nodes) => !nodes.some((each) => isInternal(file, each))).length
}

/** The public members of a class by name, each with its declarations (overloads, or a getter and its setter). */
export function publicMembers(declaration: Node): Map<string, Node[]> {
  const members = (declaration.body as Node).body as Node[]
  return Map.groupBy(members.filter(isPublic), memberName)
}

/** `name`, `'name'` or `[Symbol.iterator]`. */
export function memberName(member: Node): string {
  const key = member.key as Node
  if (key.type === 'MemberExpression') return `[${memberPath(key)}]`
  const name = String(key.type === 'Literal' ? key.value : key.name)
  return member.computed === true ? `[${name}]` : name
}

function memberPath(node: Node): string {
  return node.type === 'MemberExpression'
    ? `${memberPath(node.object as Node)}.${(node.property as Node).name}`
    : String(node.name)
}

function isPublic(member: Node): boolean {
  if (!isNode(member.key) || member.key.type === 'PrivateIdentifier') return false
  return member.kind !== 'constructor' && (member.accessibility ?? 'public') === 'public'
}
