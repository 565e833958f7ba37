// The architecture rules, as pure functions over source files. Each returns one line per violation.
import { builtinModules } from 'node:module'
import { importsOf, isNode, type Node, parse, resolve, type Source, visit } from './source.ts'

/** The rings of src, lowest first. A ring is a folder; its layers are lists of its folders, lowest first. */
export const rings: Readonly<Record<string, readonly (readonly string[])[]>> = {
  core: [['base', 'error'], ['content', 'schema'], ['event']],
  services: [
    ['session', 'artifact', 'memory', 'credential', 'schedule', 'limit', 'worker'],
    ['auth', 'store', 'sql'],
  ],
  engine: [['model'], ['observe'], ['context'], ['tool'], ['policy'], ['dispatch'], ['agent'], ['runner'], ['flow']],
  adapters: [['live', 'mcp', 'openapi', 'gemini', 'openai', 'ai-sdk', 'otel', 'code', 'tools', 'eval', 'testing']],
  apps: [['server', 'sqlite', 'postgres', 'files', 'infer', 'restate'], ['cli']],
}

/** The layers of all rings, lowest first: `core/base`. A folder imports from its own layer and from lower layers. */
export const layers: readonly (readonly string[])[] = Object.entries(rings).flatMap(([ring, folders]) =>
  folders.map((layer) => layer.map((folder) => `${ring}/${folder}`)),
)
const rankOfFolder = new Map(layers.flatMap((folders, rank) => folders.map((folder) => [folder, rank] as const)))

/** The root entry point may import anything. A file that imports the root entry point imports everything it exports. It counts as an adapter. */
const rootEntryPoint = 'src/index.ts'
const rootRank = rankOfFolder.get('adapters/testing')

/** Files below the ring of apps that may import Node modules. */
const mayUseNode = [
  'src/adapters/mcp/stdio.ts',
  'src/adapters/mcp/oauth/system-resolve.ts',
  'src/adapters/mcp/serve/listen.ts',
  'src/adapters/openapi/read.ts',
  // start processes or threads, or read files of the machine
  'src/adapters/code/process/child-process.ts',
  'src/adapters/code/quickjs/vm-thread.ts',
  'src/adapters/code/quickjs/wasm-binary.ts',
  'src/adapters/code/quickjs/worker.ts',
  'src/adapters/code/process/machine.ts',
  'src/adapters/code/unisolated-process/temp-folder.ts',
]
/** The highest layer that the page in `web` may import from: it runs in a browser, and talks to the server over HTTP only. */
const webRank = rankOfFolder.get('services/auth') ?? 0
/** Files of higher layers that the page may import: functions that make and read answers, and types of what the server sends. */
const mayUseInWeb = [
  'src/adapters/eval/results/results.ts',
  'src/engine/model/live-event.ts',
  'src/engine/runner/runner-options.ts',
  'src/engine/runner/work/fleet-view.ts',
]
/** The only files that may call the body of a tool. */
const mayRunTools = ['src/engine/dispatch/execute.ts']

/** From the specifier of each entry point to its source file. */
type EntryPoints = ReadonlyMap<string, string>

/** Files in a folder that belongs to no layer. */
export function unknownFolders(sources: readonly Source[]): string[] {
  return sources
    .filter(({ file }) => rankOf(file) === undefined)
    .map(({ file }) => `${file} is in a folder without a layer. Add the folder to the table in test/layers.ts.`)
}

/** Imports of a higher layer, type imports included. */
export function upwardImports(sources: readonly Source[], entryPoints: EntryPoints): string[] {
  return edges(sources, entryPoints)
    .filter(([from, to]) => from !== rootEntryPoint && (rankOf(from) ?? Infinity) < (rankOf(to) ?? -Infinity))
    .map(([from, to]) => `${from} (layer ${rankOf(from)}) imports ${to} (layer ${rankOf(to)})`)
}

/** Imports of the page that are not for a page: of a command, a server, a runner or an agent. */
export function webImports(sources: readonly Source[], entryPoints: EntryPoints): string[] {
  return edges(sources, entryPoints)
    .filter(([, to]) => to.startsWith('src/') && (rankOf(to) ?? Infinity) > webRank && !mayUseInWeb.includes(to))
    .map(([from, to]) => `${from} imports ${to}`)
}

/** Import cycles between files, type imports included. */
export function fileCycles(sources: readonly Source[], entryPoints: EntryPoints): string[] {
  return cycles(edges(sources, entryPoints))
}

/** Import cycles between folders. Two folders of one layer may import each other in one direction only. */
export function folderCycles(sources: readonly Source[], entryPoints: EntryPoints): string[] {
  const between = edges(sources, entryPoints)
    .filter(([from, to]) => from !== rootEntryPoint && to !== rootEntryPoint)
    .map(([from, to]): Edge => [folderOf(from), folderOf(to)])
    .filter(([from, to]) => from !== to)
  return cycles(between)
}

/** Imports of Node modules in files that must run without Node. */
export function nodeImports(sources: readonly Source[]): string[] {
  return sources
    .filter(({ file }) => !isNodeFile(file))
    .flatMap((source) =>
      importsOf(source)
        .filter(isNodeModule)
        .map((specifier) => `${source.file} imports ${specifier}`),
    )
}

/** Whether a specifier names a module of Node, with or without `node:`. */
export function isNodeModule(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

/** Files that only re-export. Only an entry point may be an `index.ts` or re-export everything it has. */
export function barrels(sources: readonly Source[], entryFiles: ReadonlySet<string>): string[] {
  return sources
    .filter(({ file }) => !entryFiles.has(file))
    .filter((source) => /(^|\/)index\.ts$/.test(source.file) || onlyReexports(source))
    .map(({ file }) => `${file} is a barrel, but not an entry point`)
}

/**
 * Calls of a tool's body outside the dispatcher: `tool.run(...)` on a value named or typed as a tool, on an entry of
 * `tools`, through `call`, `apply` or `bind`, or on a `run` that was destructured from a tool.
 */
export function toolRuns(sources: readonly Source[]): string[] {
  return sources.filter(({ file }) => !mayRunTools.includes(file)).flatMap(toolRunsIn)
}

function toolRunsIn(source: Source): string[] {
  const { program } = parse(source)
  const typed = new Set<string>()
  visit(program, (node) => {
    if (node.type === 'Identifier' && isToolType(node.typeAnnotation)) typed.add(String(node.name))
  })
  const isTool = (value: unknown): boolean => {
    const node = unwrap(value)
    if (node?.type === 'Identifier') return typed.has(String(node.name)) || /tool$/i.test(String(node.name))
    if (node?.type === 'CallExpression') return isMember(node.callee) && isNamedTools(unwrap(node.callee)?.object)
    if (!isMember(node)) return false
    return node?.computed === true ? isNamedTools(node.object) : /tool$/i.test(memberName(node) ?? '')
  }
  const isRunOfTool = (value: unknown): boolean => {
    const node = unwrap(value)
    return isMember(node) && memberName(node) === 'run' && isTool(node?.object)
  }
  const found: string[] = []
  const report = (node: Node, violation: string): void => {
    const line = source.text.slice(0, Number(node.start)).split('\n').length
    found.push(`${source.file}:${line} ${violation}. Only the dispatcher runs a tool's body.`)
  }
  visit(program, (node) => {
    if (node.type === 'CallExpression') {
      const callee = unwrap(node.callee)
      const isIndirect = isMember(callee) && /^(call|apply|bind)$/.test(memberName(callee) ?? '')
      if (isRunOfTool(callee) || (isIndirect && isRunOfTool(callee?.object))) report(node, 'calls run of a tool')
    }
    if (node.type === 'VariableDeclarator' && destructuresRun(node.id) && isTool(node.init))
      report(node, 'destructures run from a tool')
    if (destructuresRun(node) && isToolType(node.typeAnnotation)) report(node, 'destructures run from a tool')
  })
  return found
}

const destructuresRun = (value: unknown): boolean =>
  isNode(value) &&
  value.type === 'ObjectPattern' &&
  (value.properties as Node[]).some((property) => isNode(property.key) && property.key.name === 'run')

/** Whether an annotation is `Tool`, `Tool<...>`, `Tool | undefined`, or the same with another name that ends in `Tool`. */
function isToolType(annotation: unknown): boolean {
  if (!isNode(annotation)) return false
  if (annotation.type === 'TSTypeAnnotation') return isToolType(annotation.typeAnnotation)
  if (annotation.type === 'TSUnionType') return (annotation.types as Node[]).some(isToolType)
  return (
    annotation.type === 'TSTypeReference' &&
    isNode(annotation.typeName) &&
    /Tool$/.test(String(annotation.typeName.name))
  )
}

const isMember = (value: unknown): boolean => unwrap(value)?.type === 'MemberExpression'

function memberName(node: Node | undefined): string | undefined {
  const property = node?.property
  if (!isNode(property)) return undefined
  return String(property.type === 'Literal' ? property.value : node?.computed ? '' : property.name)
}

function isNamedTools(value: unknown): boolean {
  const node = unwrap(value)
  return /tools$/i.test(String(node?.type === 'MemberExpression' ? memberName(node) : node?.name))
}

/** The expression inside `( )`, `!`, `as`, `satisfies`, `await` and `?.` */
function unwrap(value: unknown): Node | undefined {
  if (!isNode(value)) return undefined
  const inner = value.type === 'AwaitExpression' ? value.argument : value.expression
  const wraps = /^(ParenthesizedExpression|ChainExpression|AwaitExpression|TS(NonNull|As|Satisfies)Expression)$/
  return wraps.test(value.type) ? unwrap(inner) : value
}

function onlyReexports(source: Source): boolean {
  const { program, module } = parse(source)
  const entries = module.staticExports.flatMap(({ entries }) => entries)
  const moves = /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/
  return (
    entries.length > 0 &&
    entries.every((entry) => entry.moduleRequest) &&
    program.body.every(({ type }) => moves.test(type))
  )
}

/** Test kits are not published. */
const isNodeFile = (file: string): boolean =>
  file.startsWith('src/apps/') ||
  file.endsWith('.test-kit.ts') ||
  mayUseNode.includes(file) ||
  file.startsWith('src/adapters/testing/server/')

/** The ring and the folder in it: `core/base`. */
const folderOf = (file: string): string => file.split('/').slice(1, -1).slice(0, 2).join('/')

const rankOf = (file: string): number | undefined =>
  file === rootEntryPoint ? rootRank : rankOfFolder.get(folderOf(file))

type Edge = readonly [from: string, to: string]

function edges(sources: readonly Source[], entryPoints: EntryPoints): Edge[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .map((specifier) => resolve(source.file, specifier, entryPoints))
      .filter((to) => to !== undefined)
      .map((to): Edge => [source.file, to]),
  )
}

/** One line for each cycle that a depth-first search finds. */
function cycles(edges: readonly Edge[]): string[] {
  const targets = Map.groupBy(edges, ([from]) => from)
  const done = new Set<string>()
  const found: string[] = []
  const search = (at: string, path: readonly string[]): void => {
    if (path.includes(at)) {
      found.push([...path.slice(path.indexOf(at)), at].join(' -> '))
    } else if (!done.has(at)) {
      for (const to of new Set(targets.get(at)?.map(([, to]) => to))) search(to, [...path, at])
      done.add(at)
    }
  }
  for (const from of targets.keys()) search(from, [])
  return found
}
