// Reads our own source as syntax trees.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** A file and its text. */
export interface Source {
  /** Path from the root of the repository, with forward slashes. */
  readonly file: string
  readonly text: string
}

/** A syntax node of any type. Readers check the members of the type they expect. */
export interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** The product's own files, without their tests. Test kits are included. */
export function productSources(): Source[] {
  return globSync('src/**/*.ts')
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/\.test(-d)?\.ts$/.test(file))
    .sort()
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
}

/** The files of the page, without their tests. */
export function pageSources(): Source[] {
  return globSync('web/src/**/*.{ts,tsx}')
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/\.test(-kit)?\.tsx?$/.test(file))
    .sort()
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }))
}

/** The files that are published: `productSources` without test kits. */
export function publishedSources(): Source[] {
  return productSources().filter(({ file }) => !file.endsWith('.test-kit.ts'))
}

/** Specifiers of every import, re-export, `import()` and `import('x').Type` in a file. */
export function importsOf(source: Source): string[] {
  const { program, module } = parse(source)
  const found = new Set(module.staticImports.map((entry) => entry.moduleRequest.value))
  for (const { entries } of module.staticExports) {
    for (const entry of entries) if (entry.moduleRequest) found.add(entry.moduleRequest.value)
  }
  visit(program, (node) => {
    if (node.type !== 'ImportExpression' && node.type !== 'TSImportType') return
    const from = node.source as Node
    if (typeof from.value === 'string') found.add(from.value)
    // A minifier writes `x` for 'x'.
    const [only, ...more] = from.type === 'TemplateLiteral' ? (from.quasis as { value: { cooked: string } }[]) : []
    if (only && more.length === 0) found.add(only.value.cooked)
  })
  return [...found]
}

/** The source file that a specifier names: a relative file or one of our entry points. Undefined for other packages. */
export function resolve(from: string, specifier: string, entryPoints: ReadonlyMap<string, string>): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : entryPoints.get(specifier)
}

/** Parses a file. Throws on a syntax error. */
export function parse({ file, text }: Source): ReturnType<typeof parseSync> {
  const result = parseSync(file, text)
  const [error] = result.errors
  if (error) throw new Error(`${file}: ${error.message}`)
  return result
}

/** Calls `enter` for every node of a tree, parents first. */
export function visit(root: unknown, enter: (node: Node) => void): void {
  if (Array.isArray(root)) {
    for (const item of root) visit(item, enter)
  } else if (isNode(root)) {
    enter(root)
    for (const key in root) visit(root[key], enter)
  }
}

/** Whether a value is a syntax node. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
