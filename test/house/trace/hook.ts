// Loaded with `node --import`: rewrites src/ so that every function with a block body reports when it is entered.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNode, type Node, parse } from '../../source.ts'

/** A function of src/; `file` is relative to src/. */
export interface EnteredFunction {
  readonly file: string
  readonly name: string
}

/** What a traced program calls. */
export interface Trace {
  /** Notes the functions that are entered from now on. */
  start(): void
  /** Ends what `start` began. At its end, the program prints the shortest of its walks: timers may add to others. */
  stop(): void
}

const root = fileURLToPath(new URL('../../../src/', import.meta.url))
const functions: EnteredFunction[] = []
let entered: EnteredFunction[] | undefined
let shortest: EnteredFunction[] | undefined

const trace: Trace = {
  start() {
    entered = []
  },
  stop() {
    if (!shortest || (entered && entered.length < shortest.length)) shortest = entered
    entered = undefined
  },
}

process.on('exit', () => process.stdout.write(JSON.stringify(shortest)))

Object.assign(globalThis, {
  __trace: trace,
  __enter(id: number) {
    entered?.push(functions[id] as EnteredFunction)
  },
})

registerHooks({
  load(url, context, nextLoad) {
    const path = url.startsWith('file:') ? fileURLToPath(url) : ''
    if (!path.startsWith(root) || !path.endsWith('.ts')) return nextLoad(url, context)
    const file = relative(root, path).replaceAll('\\', '/')
    return { format: 'module-typescript', shortCircuit: true, source: instrument(file, readFileSync(path, 'utf8')) }
  },
})

function instrument(file: string, text: string): string {
  const bodies: { readonly at: number; readonly id: number }[] = []
  visitFunctions(parse({ file, text }).program as unknown as Node, '', (body, name) => {
    bodies.push({ at: Number(body.start) + 1, id: functions.push({ file, name }) - 1 })
  })
  let source = ''
  let from = 0
  for (const { at, id } of bodies.sort((one, other) => one.at - other.at)) {
    source += `${text.slice(from, at)}__enter(${id});`
    from = at
  }
  return source + text.slice(from)
}

/** Calls `found` with the body and the name of every function whose body is a block. */
function visitFunctions(node: Node, name: string, found: (body: Node, name: string) => void): void {
  const own = (node.key ?? node.id) as { name?: string } | null | undefined
  const label = own?.name ?? name
  if (/^(Function(Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type) && isBlock(node.body))
    found(node.body, label)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visitFunctions(child, label, found)
  }
}

const isBlock = (body: unknown): body is Node =>
  isNode(body) && (body.type === 'BlockStatement' || body.type === 'FunctionBody')
