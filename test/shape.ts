// The shapes of public declarations as text: signatures without bodies, comments and internal members.
import { readFileSync } from 'node:fs'
import { exportedDeclarations } from './house/exported-declarations.ts'
import { isInternal, parseFile } from './house/parsed-file.ts'
import { isNode, type Node, parse, resolve, type Source } from './source.ts'

/** The shapes of the names that an entry point exports, sorted by name. */
export function shapesOf(file: string): string {
  const text = readFileSync(file, 'utf8')
  const own = parseFile({ file, text })
  const exported = new Set(
    parse({ file, text }).module.staticExports.flatMap(({ entries }) =>
      entries.map(({ exportName }) => exportName.name),
    ),
  )
  const shapes = parse({ file, text }).module.staticExports.flatMap(({ entries }) =>
    entries.map(({ moduleRequest, importName, exportName }) => {
      const name = exportName.name ?? 'default'
      const from = moduleRequest && resolve(file, moduleRequest.value, new Map())
      const source = from ? parseFile({ file: from, text: readFileSync(from, 'utf8') }) : own
      const wanted = importName.name ?? name
      const found = exportedDeclarations(source).filter((one) => one.name === wanted)
      if (found.length === 0 && name === 'default') return `${name}: ${file}`
      if (found.length === 0) throw new Error(`${file}: ${name} is not declared in ${from ?? file}.`)
      const hidden = found.flatMap(({ node }) =>
        hiddenMembers(node, { file: from ?? file, text: source.text }, exported),
      )
      const shape = found.map(({ node }) => `${name}: ${shapeOf(node, source.text)}`).join('\n')
      return [shape, ...hidden].join('\n  ')
    }),
  )
  return `${shapes.sort().join('\n\n')}\n`
}

/** The members that an interface has of another one, which the entry point does not export. */
function hiddenMembers(node: Node, { file, text }: Source, exported: ReadonlySet<string | null | undefined>): string[] {
  if (node.type !== 'TSInterfaceDeclaration' || !Array.isArray(node.extends)) return []
  return (node.extends as Node[]).flatMap(({ expression }) => {
    const name = isNode(expression) ? String(expression.name) : ''
    if (exported.has(name)) return []
    const imported = parse({ file, text }).module.staticImports.find(({ entries }) =>
      entries.some(({ localName }) => localName.value === name),
    )
    const from = imported && resolve(file, imported.moduleRequest.value, new Map())
    if (!from) return []
    const source = parseFile({ file: from, text: readFileSync(from, 'utf8') })
    return exportedDeclarations(source)
      .filter((one) => one.name === name)
      .flatMap((one) => listed(isNode(one.node.body) ? one.node.body.body : undefined, source.text))
  })
}

function shapeOf(node: Node, text: string): string {
  const body = isNode(node.body) ? node.body : undefined
  switch (node.type) {
    case 'TSInterfaceDeclaration':
      return [head(node, body, text), ...listed(body?.body, text)].join('\n  ')
    case 'ClassDeclaration':
      return [head(node, body, text), ...listed(body?.body, text)].join('\n  ')
    case 'FunctionDeclaration':
      return head(node, body, text)
    case 'VariableDeclarator':
      return slice(text, node.start, isNode(node.init) ? node.init.start : node.end).replace(/\s*=$/, '')
    default:
      return slice(text, node.start, node.end)
  }
}

function head(node: Node, body: Node | undefined, text: string): string {
  return slice(text, node.start, body?.start ?? node.end).replace(/\s*\{?$/, '')
}

/** One line for each public member. */
function listed(members: unknown, text: string): string[] {
  return (Array.isArray(members) ? (members as Node[]) : []).flatMap((member) => {
    const isPrivate = isNode(member.key) && member.key.type === 'PrivateIdentifier'
    if (isPrivate || member.type === 'StaticBlock' || isInternal({ text }, member)) return []
    const value = isNode(member.value) ? member.value : undefined
    if (member.type === 'MethodDefinition') {
      const body = isNode(value?.body) ? value.body : undefined
      return [slice(text, member.start, body?.start ?? member.end)]
    }
    if (member.type === 'PropertyDefinition')
      return [slice(text, member.start, value?.start ?? member.end).replace(/\s*=$/, '')]
    return [slice(text, member.start, member.end)]
  })
}

/** Source without comments, on one line. */
function slice(text: string, start: unknown, end: unknown): string {
  return text
    .slice(Number(start), Number(end))
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}
