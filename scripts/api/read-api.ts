// Reads the exports of every entry point from the sources: kind, doc comment, signature, members.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import type { Node } from '../../test/source.ts'
import { docOf, findDeclaration, type Member, membersOf, readSource, withoutExport } from './declarations.ts'

/** What the reference says about one export. */
export interface ApiEntry {
  readonly name: string
  readonly kind: 'class' | 'constant' | 'function' | 'interface' | 'type'
  /** The doc comment, with its tags. */
  readonly doc: string
  /** The code that declares the name: one text for each overload, or a class and its constructor. */
  readonly signatures: readonly string[]
  readonly members: readonly Member[]
  /** Code of the type aliases in signatures and members that no entry point exports. */
  readonly helperTypes: readonly string[]
  /** The folder that declares the name, in a ring of `src`. */
  readonly folder: string
}

/** One page: an entry point and its exports, values first. */
export interface ApiPage {
  /** The name in an import, such as `toolwright/gemini`. */
  readonly entryPoint: string
  /** The name of the file, such as `gemini.md`. */
  readonly file: string
  readonly doc: string
  readonly entries: readonly ApiEntry[]
}

const KINDS: Readonly<Record<string, ApiEntry['kind']>> = {
  ClassDeclaration: 'class',
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  VariableDeclaration: 'constant',
}

/** Reads every entry point of package.json that exports something. */
export function readApi(): ApiPage[] {
  const order = (entry: ApiEntry): string => `${isType(entry) ? 1 : 0}${entry.name.toLowerCase()}`
  const allNames = new Set(entryPoints().flatMap(([, file]) => exportedNames(file)))
  const withExports = entryPoints().filter(([, file]) => exportedNames(file).length > 0)
  return withExports.map(([entryPoint, file]) => {
    const { body } = readSource(file)
    const entries = exportedNames(file).map((name) => readEntry(file, name, allNames))
    const doc = body[0] ? docOf(file, body[0]) : ''
    const sorted = entries.sort((a, b) => (order(a) < order(b) ? -1 : 1))
    return {
      entryPoint,
      file: `${entryPoint.replace(/^toolwright\//, '').replaceAll('/', '-')}.md`,
      doc,
      entries: sorted,
    }
  })
}

function entryPoints(): [specifier: string, source: string][] {
  const { name, exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.entries<{ 'toolwright:source'?: string }>(exports).flatMap(
    ([path, { 'toolwright:source': source }]): [string, string][] =>
      source ? [[posix.join(name, path), posix.normalize(source)]] : [],
  )
}

function exportedNames(file: string): string[] {
  return readSource(file).body.flatMap((statement) => {
    if (statement.type === 'ExportDefaultDeclaration') return ['default']
    if (statement.type !== 'ExportNamedDeclaration') return []
    return (statement.specifiers as { exported: { name: string } }[]).map(({ exported }) => exported.name)
  })
}

function readEntry(entryFile: string, name: string, allNames: ReadonlySet<string>): ApiEntry {
  const { file, nodes } = findDeclaration(entryFile, name) ?? { file: '', nodes: [] }
  const [first] = nodes
  if (!first) throw new Error(`${entryFile} exports "${name}", but no file of src declares it.`)
  const node = withoutExport(first)
  const kind = KINDS[node.type]
  if (!kind) throw new Error(`${file} declares "${name}" as ${node.type}. Add it to KINDS in scripts/api/read-api.ts.`)
  const members = kind === 'class' || kind === 'interface' ? membersOf(file, node) : []
  const signatures = nodes.flatMap((one) => signaturesOf(readSource(file).text, withoutExport(one)))
  const used = [...signatures, ...members.map(({ type }) => type)].join(' ')
  const helperTypes = findHelperTypes(file, used, new Map([...allNames].map((known) => [known, ''])))
  return { name, kind, doc: docOf(file, first), signatures, members, helperTypes, folder: file.split('/')[2] ?? '' }
}

/** The code of the type aliases that a text names, and of those they name in turn. */
function findHelperTypes(file: string, text: string, known: Map<string, string>): string[] {
  for (const name of text.match(/\b[A-Z]\w*/g) ?? []) {
    if (known.has(name)) continue
    const found = findDeclaration(file, name)
    const node = found?.nodes[0] && withoutExport(found.nodes[0])
    if (!found || node?.type !== 'TSTypeAliasDeclaration') continue
    const [code = ''] = signaturesOf(readSource(found.file).text, node)
    known.set(name, code)
    findHelperTypes(found.file, code, known)
  }
  return [...known.values()].filter(Boolean)
}

/** The code of a declaration up to its body. */
function signaturesOf(text: string, node: Node): string[] {
  const slice = (start: unknown, end: unknown): string => text.slice(Number(start), Number(end)).trim()
  const body = node.body as (Node & { body: Node[] }) | undefined
  const [variable] = (node.declarations as { id: Node }[] | undefined) ?? []
  if (variable) return [`const ${slice(variable.id.start, variable.id.end)}`]
  const head = slice(node.start, body?.start ?? node.end).replace(/^async /, '')
  if (node.type !== 'ClassDeclaration') return [head]
  const build = body?.body.find(({ kind }) => kind === 'constructor')?.value as Node | undefined
  return build ? [head, `new ${(node.id as Node).name}${slice(build.start, (build.body as Node).start)}`] : [head]
}

/** Whether an export exists for the type checker only. */
export function isType({ kind }: ApiEntry): boolean {
  return kind === 'interface' || kind === 'type'
}
