// Finds the declaration of an exported name in the sources, and reads its doc comment and its members.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { isNode, type Node, parse } from '../../test/source.ts'

/** A declaration: one syntax node, or one for each overload of a function. */
export interface Declaration {
  readonly file: string
  readonly nodes: readonly Node[]
}

/** One row of a member table. */
export interface Member {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly doc: string
}

interface ParsedFile {
  readonly text: string
  readonly body: readonly Node[]
  readonly comments: readonly { type: string; value: string; start: number; end: number }[]
}

const files = new Map<string, ParsedFile>()

/** A source file, parsed once. */
export function readSource(file: string): ParsedFile {
  const known = files.get(file)
  if (known) return known
  const text = readFileSync(file, 'utf8')
  const { program, comments } = parse({ file, text })
  const made: ParsedFile = { text, body: list(program.body), comments }
  files.set(file, made)
  return made
}

/** Finds a name that a file declares, imports or exports; undefined when it comes from another package. */
export function findDeclaration(file: string, name: string): Declaration | undefined {
  const nodes: Node[] = []
  for (const statement of readSource(file).body) {
    const { id, declarations } = withoutExport(statement)
    const isDefault = name === 'default' && statement.type === 'ExportDefaultDeclaration'
    if (isDefault || [id, ...list(declarations).map((one) => one.id)].some((one) => nameOf(one) === name))
      nodes.push(statement)
    const from = isNode(statement.source) ? String(statement.source.value) : ''
    if (!from.startsWith('.')) continue
    const [here, there] = statement.type === 'ImportDeclaration' ? ['local', 'imported'] : ['exported', 'local']
    const specifier = list(statement.specifiers).find((one) => nameOf(one[here]) === name)
    if (specifier) return findDeclaration(posix.join(posix.dirname(file), from), nameOf(specifier[there]))
  }
  const overloads = nodes.filter((node) => withoutExport(node).type === 'TSDeclareFunction')
  return nodes.length > 0 ? { file, nodes: overloads.length > 0 ? overloads : nodes } : undefined
}

/** The declaration inside an `export`. */
export function withoutExport(statement: Node): Node {
  return isNode(statement.declaration) ? statement.declaration : statement
}

/** The text of the doc comment before a node; '' without one. Line comments may stand in between. */
export function docOf(file: string, { start }: Node): string {
  const { text, comments } = readSource(file)
  const isDoc = ({ type, value, end }: ParsedFile['comments'][number]): boolean =>
    type === 'Block' &&
    value.startsWith('*') &&
    end <= Number(start) &&
    /^(\s|\/\/.*\n)*$/.test(text.slice(end, Number(start)))
  const lines = comments.findLast(isDoc)?.value.slice(1).split('\n') ?? []
  return lines
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
}

/** The members of an interface, a class or an object type. Those of the types it extends come last. */
export function membersOf(file: string, node: Node): Member[] {
  const own = list((node.body as Node | undefined)?.body ?? node.members).flatMap((member) => readMember(file, member))
  const inherited = [...list(node.extends), ...list(node.implements)].flatMap((base) => membersOfType(file, base))
  const documented = own.map((member) => ({
    ...member,
    doc: member.doc || (inherited.find(({ name }) => name === member.name)?.doc ?? ''),
  }))
  const others = inherited.filter(({ name }) => own.every((member) => member.name !== name))
  return node.type === 'ClassDeclaration' ? documented : [...documented, ...others]
}

/** The members of a type: an object type, the type a name refers to, `Omit` and its like. */
function membersOfType(file: string, type: Node): Member[] {
  if (type.type === 'TSTypeLiteral') return membersOf(file, type)
  if (type.type === 'TSConditionalType') return membersOfType(file, type.trueType as Node)
  const name = nameOf(type.expression ?? type.typeName)
  const [subject, keys] = list((type.typeArguments as Node | undefined)?.params)
  if (subject && /^(Omit|Pick|Partial)$/.test(name)) {
    const names = [...JSON.stringify(keys ?? '').matchAll(/"value":"(\w+)"/g)].map(([, key]) => key)
    return membersOfType(file, subject).filter((member) => names.includes(member.name) === (name === 'Pick'))
  }
  const found = findDeclaration(file, name)
  if (!found) return []
  return found.nodes.map(withoutExport).flatMap((node) => {
    const alias = node.typeAnnotation
    return isNode(alias) ? membersOfType(found.file, alias) : membersOf(found.file, node)
  })
}

function readMember(file: string, member: Node): Member[] {
  const { key, value, typeAnnotation, optional, computed } = member
  const doc = docOf(file, member)
  if (!isNode(key) || key.type === 'PrivateIdentifier' || member.kind === 'constructor' || member.declare) return []
  if ((computed && nameOf(key.object) !== 'Symbol') || /@internal\b/.test(doc)) return []
  const body = isNode(value) && isNode(value.body) ? value.body : undefined
  const annotation = isNode(typeAnnotation) ? typeAnnotation : undefined
  const rest = textBetween(file, Number(key.end), Number(body?.start ?? annotation?.end ?? member.end))
  const isMethod = member.type === 'TSMethodSignature' || member.kind === 'method'
  const type = rest.replace(/^\]?\??/, '').replace(isMethod ? '' : /^(\(\))?: /, '')
  const plainName = textBetween(file, Number(key.start), Number(key.end))
  const name = `${computed ? `[${plainName}]` : plainName}${isMethod ? '()' : ''}`
  const isOptional = optional === true
  const nested = nestedMembers(file, annotation?.typeAnnotation).map((one) => ({ ...one, name: `${name}.${one.name}` }))
  const given = type.replace(/ \| undefined$/, '').replace(/^\((\([^|]*\) => [^|]*)\)$/, '$1')
  return [{ name, type: isOptional ? given : type, isOptional, doc }, ...nested]
}

/** The members of an option that is itself an object, if they have doc comments. */
function nestedMembers(file: string, type: unknown): Member[] {
  if (!isNode(type)) return []
  const parts = type.type === 'TSUnionType' ? list(type.types) : [type]
  const objects = parts.filter((part) => part.type === 'TSTypeLiteral')
  const members = objects.length === 1 ? objects.flatMap((part) => membersOf(file, part)) : []
  return members.some(({ doc }) => doc) ? members : []
}

/** Source text on one line, without comments. */
function textBetween(file: string, start: number, end: number): string {
  return readSource(file)
    .text.slice(start, end)
    .trim()
    .replace(/\/\*[\s\S]*?\*\/\n?/g, '')
    .replace(/([\w)\]>}'])\n\s*(?=[\w[])/g, '$1; ') // members of an object type, one on each line
    .replace(/\s+/g, ' ')
    .replace(/(^|[:(=<] )\| /g, '$1') // the bar that starts a union of several lines
    .replace(/([(<]) /g, '$1')
    .replace(/,? ([)>])/g, '$1')
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? node.name : ''
}

function list(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}
