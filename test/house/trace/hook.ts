// Loaded with `node --import`: rewrites src/ so that every function reports when it is entered, and by which function.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNode, type Node, parse } from '../../source.ts'

/** A function of src/; `file` is relative to src/. */
export interface TracedFunction {
  readonly file: string
  readonly name: string
}

/** One entered function and its caller; no caller = a continuation after an await. */
export interface TraceStep {
  readonly entered: TracedFunction
  readonly caller: TracedFunction | undefined
}

/** What the traced program calls. */
export interface Trace {
  start(): void
  stop(): readonly TraceStep[]
}

const root = fileURLToPath(new URL('../../../src/', import.meta.url))
const functions: TracedFunction[] = []
const steps: TraceStep[] = []
const stack: TracedFunction[] = []
let isOn = false

const trace: Trace = {
  start() {
    steps.length = 0
    isOn = true
  },
  stop() {
    isOn = false
    return [...steps]
  },
}

Object.assign(globalThis, {
  __trace: trace,
  __enter(id: number) {
    const entered = functions[id] as TracedFunction
    if (isOn) steps.push({ entered, caller: stack.at(-1) })
    stack.push(entered)
  },
  __leave(id: number) {
    if (stack.at(-1) === functions[id]) stack.pop() // not after an await that threw
  },
  __exit(id: number, value: unknown) {
    if (stack.at(-1) === functions[id]) stack.pop()
    return value
  },
  __suspend(id: number, awaited: unknown) {
    if (stack.at(-1) === functions[id]) stack.pop()
    return awaited
  },
  __resume(id: number, value: unknown) {
    stack.push(functions[id] as TracedFunction)
    return value
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

/** A function at an offset of the source; a larger `order` goes behind a smaller one at the same offset. */
interface Insertion {
  readonly at: number
  readonly order: number
  readonly code: string
}

function instrument(file: string, text: string): string {
  const insertions: Insertion[] = []
  visitFunctions(parse({ file, text }).program as unknown as Node, '', (node, name) => {
    const id = functions.push({ file, name }) - 1
    insertions.push(...insertionsFor(node, id, name === 'constructor'))
  })
  insertions.sort((a, b) => a.at - b.at || a.order - b.order)
  let source = ''
  let at = 0
  for (const insertion of insertions) {
    source += text.slice(at, insertion.at) + insertion.code
    at = insertion.at
  }
  return source + text.slice(at)
}

function insertionsFor(node: Node, id: number, isConstructor: boolean): Insertion[] {
  const body = node.body as { type: string; start: number; end: number }
  if (body.type !== 'BlockStatement' && body.type !== 'FunctionBody') {
    return [
      { at: body.start, order: -body.end, code: `__exit(${id},(__enter(${id}),(` },
      { at: body.end, order: body.start, code: ')))' },
    ]
  }
  // a generator or an async loop may end early, and then no exit is reported
  if (node.generator || isConstructor || hasAsyncLoop(body))
    return [{ at: body.start + 1, order: 1, code: `__enter(${id});__leave(${id});` }]
  return [
    { at: body.start + 1, order: 1, code: `__enter(${id});try{` },
    { at: body.end - 1, order: 2, code: `}finally{__leave(${id})}` },
    ...awaitsIn((body as { body?: unknown }).body).flatMap((one) => [
      { at: one.start, order: -one.end, code: `__resume(${id},` },
      { at: one.argument.start, order: -one.argument.end, code: `__suspend(${id},` },
      { at: one.end, order: one.start, code: '))' },
    ]),
  ]
}

interface Await {
  readonly start: number
  readonly end: number
  readonly argument: { readonly start: number; readonly end: number }
}

/** The `await` expressions of a function, without those of functions inside it. */
function awaitsIn(node: unknown): Await[] {
  if (Array.isArray(node)) return node.flatMap(awaitsIn)
  if (!isNode(node) || /Function/.test(node.type)) return []
  const inside = Object.values(node).flatMap(awaitsIn)
  return node.type === 'AwaitExpression' ? [node as unknown as Await, ...inside] : inside
}

function hasAsyncLoop(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(hasAsyncLoop)
  if (!isNode(node) || /Function(Declaration|Expression)|Arrow/.test(node.type)) return false
  return (node.type === 'ForOfStatement' && node.await === true) || Object.values(node).some(hasAsyncLoop)
}

function visitFunctions(node: Node, name: string, found: (node: Node, name: string) => void): void {
  const own = (node.key ?? node.id) as { name?: string } | null | undefined
  const label = own?.name ?? name
  if (/^(Function(Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type) && node.body) found(node, label)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visitFunctions(child, label, found)
  }
}
