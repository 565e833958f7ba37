// Loaded with --import: counts every function of src/ that is entered while a trace is on.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

/** One entered function: `file` is relative to src/. */
export interface Entry {
  readonly file: string
  readonly name: string
}

const root = fileURLToPath(new URL('../../../src/', import.meta.url))
const functions: Entry[] = []
const entered: Entry[] = []
let isOn = false

Object.assign(globalThis, {
  __enter: (id: number): void => {
    if (isOn) entered.push(functions[id] as Entry)
  },
  __trace: {
    start: (): void => {
      entered.length = 0
      isOn = true
    },
    stop: (): readonly Entry[] => {
      isOn = false
      return [...entered]
    },
  },
})

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:')) return nextLoad(url, context)
    const path = fileURLToPath(url)
    if (!path.startsWith(root) || !path.endsWith('.ts')) return nextLoad(url, context)
    const text = readFileSync(path, 'utf8')
    return { format: 'module-typescript', shortCircuit: true, source: instrument(relative(root, path), text) }
  },
})

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

function instrument(file: string, text: string): string {
  const { program } = parseSync(file, text)
  const inserts: { at: number; text: string; order: number }[] = []
  visit(program as unknown as Node, '', (node, name) => {
    const body = node['body'] as Node | null
    if (!body) return
    const id = functions.push({ file, name }) - 1
    if (body.type === 'BlockStatement' || body.type === 'FunctionBody') {
      inserts.push({ at: body.start + 1, text: `__enter(${id});`, order: 1 })
    } else {
      inserts.push({ at: body.start, text: `(__enter(${id}),(`, order: -body.end })
      inserts.push({ at: body.end, text: '))', order: body.start })
    }
  })
  inserts.sort((a, b) => a.at - b.at || a.order - b.order)
  let out = ''
  let at = 0
  for (const insert of inserts) {
    out += text.slice(at, insert.at) + insert.text
    at = insert.at
  }
  return out + text.slice(at)
}

function visit(node: Node, name: string, found: (node: Node, name: string) => void): void {
  const own = (node['key'] ?? node['id']) as { name?: string } | null | undefined
  const label = own?.name ?? name
  if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) found(node, label)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue
    if (Array.isArray(value)) for (const one of value) if (isNode(one)) visit(one, label, found)
    if (isNode(value)) visit(value, label, found)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
