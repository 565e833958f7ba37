// The rules of the house, as pure functions over files: each returns the offences it found, one line each.
import { builtinModules } from 'node:module'
import { importsOf, isNode, type Node, parse, resolve, type Source, visit } from './source.ts'

const layers = [
  ['base', 'error'],
  ['content', 'schema'],
  ['event'],
  ['session', 'artifact', 'memory', 'credential'],
  ['auth'],
  ['tool'],
  ['policy'],
  ['dispatch'],
  ['agent'],
  ['runner'],
  ['live', 'mcp', 'openapi', 'gemini', 'ai-sdk', 'code', 'tools', 'otel', 'testing'],
  ['server', 'sqlite', 'postgres', 'files', 'restate', 'infer'],
  ['cli'],
]
const rankOfFolder = new Map(layers.flatMap((folders, rank) => folders.map((folder) => [folder, rank] as const)))

/** The root door: it may import anything, and what imports it imports all that is behind it. */
const rootDoor = 'src/index.ts'
const rootDoorRank = 10

const mayUseNode = [
  'src/mcp/stdio.ts',
  'src/openapi/read.ts',
  // processes, threads, and what is found on the machine they run on
  'src/code/process/child-process.ts',
  'src/code/quickjs/vm-thread.ts',
  'src/code/quickjs/wasm-binary.ts',
  'src/code/quickjs/worker.ts',
  'src/code/process/machine.ts',
  'src/code/unisolated-process/temp-folder.ts',
]
const mayRunTools = ['src/dispatch/execute.ts']

type Doors = ReadonlyMap<string, string>

export function unknownFolders(sources: readonly Source[]): string[] {
  return sources
    .filter(({ file }) => rankOf(file) === undefined)
    .map(({ file }) => `${file}: no layer has this folder; add it to test/layers.ts and to the design`)
}

export function upwardImports(sources: readonly Source[], doors: Doors): string[] {
  return edges(sources, doors)
    .filter(([from, to]) => from !== rootDoor && (rankOf(from) ?? Infinity) < (rankOf(to) ?? -Infinity))
    .map(([from, to]) => `${from} (layer ${rankOf(from)}) imports ${to} (layer ${rankOf(to)})`)
}

/** Cycles between files, type imports included. */
export function fileCycles(sources: readonly Source[], doors: Doors): string[] {
  return cycles(edges(sources, doors))
}

/** Neighbours in one layer may import each other in one direction only. */
export function folderCycles(sources: readonly Source[], doors: Doors): string[] {
  const between = edges(sources, doors)
    .filter(([from, to]) => from !== rootDoor && to !== rootDoor)
    .map(([from, to]): Edge => [folderOf(from), folderOf(to)])
    .filter(([from, to]) => from !== to)
  return cycles(between)
}

export function nodeImports(sources: readonly Source[]): string[] {
  return sources
    .filter(({ file }) => !isNodeFile(file))
    .flatMap((source) =>
      importsOf(source)
        .filter(isNodeModule)
        .map((specifier) => `${source.file} imports ${specifier}`),
    )
}

export function isNodeModule(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier)
}

/** Only a door has an index, and no other file merely re-exports. */
export function barrels(sources: readonly Source[], entrances: ReadonlySet<string>): string[] {
  return sources
    .filter(({ file }) => !entrances.has(file))
    .filter((source) => /(^|\/)index\.ts$/.test(source.file) || onlyReexports(source))
    .map(({ file }) => `${file} is a barrel and no door`)
}

/**
 * Calls of a tool's body outside the dispatcher: `tool.run(...)` on what is named or typed as a tool, on an entry of
 * `tools`, through `call`, `apply` or `bind`, or after taking `run` out of a tool.
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
    const node = bare(value)
    if (node?.type === 'Identifier') return typed.has(String(node.name)) || /tool$/i.test(String(node.name))
    if (node?.type === 'CallExpression') return isMember(node.callee) && isNamedTools(bare(node.callee)?.object)
    if (!isMember(node)) return false
    return node?.computed === true ? isNamedTools(node.object) : /tool$/i.test(memberName(node) ?? '')
  }
  const isRunOfTool = (value: unknown): boolean => {
    const node = bare(value)
    return isMember(node) && memberName(node) === 'run' && isTool(node?.object)
  }
  const found: string[] = []
  const report = (node: Node, how: string): void => {
    const line = source.text.slice(0, Number(node.start)).split('\n').length
    found.push(`${source.file}:${line} ${how}; only the dispatcher runs a tool's body`)
  }
  visit(program, (node) => {
    if (node.type === 'CallExpression') {
      const callee = bare(node.callee)
      const through = isMember(callee) && /^(call|apply|bind)$/.test(memberName(callee) ?? '')
      if (isRunOfTool(callee) || (through && isRunOfTool(callee?.object))) report(node, 'calls run of a tool')
    }
    if (node.type === 'VariableDeclarator' && takesRun(node.id) && isTool(node.init))
      report(node, 'takes run out of a tool')
    if (takesRun(node) && isToolType(node.typeAnnotation)) report(node, 'takes run out of a tool')
  })
  return found
}

const takesRun = (value: unknown): boolean =>
  isNode(value) &&
  value.type === 'ObjectPattern' &&
  (value.properties as Node[]).some((property) => isNode(property.key) && property.key.name === 'run')

/** `: Tool`, `: Tool<...>` and `: Tool | undefined`, also for names that end in Tool. */
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

const isMember = (value: unknown): boolean => bare(value)?.type === 'MemberExpression'

function memberName(node: Node | undefined): string | undefined {
  const property = node?.property
  if (!isNode(property)) return undefined
  return String(property.type === 'Literal' ? property.value : node?.computed ? '' : property.name)
}

function isNamedTools(value: unknown): boolean {
  const node = bare(value)
  return /tools$/i.test(String(node?.type === 'MemberExpression' ? memberName(node) : node?.name))
}

/** The expression inside `( )`, `!`, `as`, `satisfies`, `await` and `?.` */
function bare(value: unknown): Node | undefined {
  if (!isNode(value)) return undefined
  const inner = value.type === 'AwaitExpression' ? value.argument : value.expression
  const wraps = /^(ParenthesizedExpression|ChainExpression|AwaitExpression|TS(NonNull|As|Satisfies)Expression)$/
  return wraps.test(value.type) ? bare(inner) : value
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

const isNodeFile = (file: string): boolean =>
  (rankOf(file) ?? 0) >= 11 || mayUseNode.includes(file) || file.startsWith('src/testing/server/')

const folderOf = (file: string): string => file.split('/').slice(0, -1)[1] ?? ''

const rankOf = (file: string): number | undefined =>
  file === rootDoor ? rootDoorRank : rankOfFolder.get(folderOf(file))

type Edge = readonly [from: string, to: string]

function edges(sources: readonly Source[], doors: Doors): Edge[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .map((specifier) => resolve(source.file, specifier, doors))
      .filter((to) => to !== undefined)
      .map((to): Edge => [source.file, to]),
  )
}

/** One line for each way a depth-first walk comes back to where it was. */
function cycles(edges: readonly Edge[]): string[] {
  const targets = Map.groupBy(edges, ([from]) => from)
  const done = new Set<string>()
  const found: string[] = []
  const walk = (at: string, path: readonly string[]): void => {
    if (path.includes(at)) {
      found.push([...path.slice(path.indexOf(at)), at].join(' -> '))
    } else if (!done.has(at)) {
      for (const to of new Set(targets.get(at)?.map(([, to]) => to))) walk(to, [...path, at])
      done.add(at)
    }
  }
  for (const from of targets.keys()) walk(from, [])
  return found
}
