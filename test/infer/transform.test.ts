// Where plain functions are found, and what the transformed file looks like.
import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createInferrer } from '../../src/apps/infer/create-inferrer.ts'
import type { TransformedFile } from '../../src/apps/infer/inferrer.ts'
import { temporaryFolder } from './temporary-folder.ts'

const inferrer = createInferrer({ cache: false })
const folder = resolve('test/infer')

/** Transforms a file of this folder that exists only here. */
function transform(source: string, name = 'virtual.ts'): TransformedFile | undefined {
  return inferrer.transform(resolve(folder, name), source)
}

const functions = `
import { LlmAgent, StaticToolset, tool, toolSource, type ToolSource, type ToolContext } from 'toolwright'
import type { Model } from 'toolwright'
declare const model: Model
declare const flag: boolean
/** Adds numbers. */
function add(a: number, b: number) { return a + b }
/** Greets. */
const greet = (name: string) => 'hello ' + name
/** A written tool. */
const written = tool({ name: 'written', description: 'Written', run: () => 1 })
class Orders {
  /** Refunds. */
  static refund(id: string) { return id }
}
const kit = {
  /** Pings. */
  ping(host: string) { return host },
}
`

/** The expressions that the transform wraps, in order. */
function wrapped(source: string, name?: string): string[] {
  const code = transform(functions + source, name)?.code ?? ''
  const body = code.slice(0, code.indexOf('\nimport { attachInferred as'))
  return [...body.matchAll(/__toolwright\d+\(([\w.]+|\()/g)].map(([, inner = '']) => inner)
}

describe('the transform finds functions', () => {
  test.each<[where: string, source: string, expected: string[]]>([
    ['in tool()', 'export const t = tool(add)', ['add']],
    ['in tool() with options', `export const t = tool(add, { name: 'sum', requiresConfirmation: true })`, ['add']],
    [
      'in the tools of an agent',
      'export default new LlmAgent({ name: "a", model, tools: [add, greet, written] })',
      ['add', 'greet'],
    ],
    [
      'that are arrow functions in place',
      'export const t = tool((a: string) => a, { name: "x", description: "X" })',
      ['('],
    ],
    [
      'that are async arrow functions in place',
      'export const t = tool(async (a: string) => a, { name: "x", description: "X" })',
      ['async'],
    ],
    ['that are static methods', 'export const t = tool(Orders.refund)', ['Orders.refund']],
    ['that are methods of an object', 'export const t = tool(kit.ping)', ['kit.ping']],
    [
      'in a conditional item',
      'export default new LlmAgent({ name: "a", model, tools: [flag ? add : greet] })',
      ['add', 'greet'],
    ],
    ['in a conditional list', 'export default new LlmAgent({ name: "a", model, tools: flag ? [add] : [] })', ['add']],
    ['in nested lists', 'export default new LlmAgent({ name: "a", model, tools: [[add, [greet]]] })', ['add', 'greet']],
    [
      'in a list that is spread',
      'const list = [add, greet]; export default new LlmAgent({ name: "a", model, tools: [...list, written] })',
      ['add', 'greet'],
    ],
    [
      'in a constant list',
      'const list = [add, written]; export default new LlmAgent({ name: "a", model, tools: list })',
      ['add'],
    ],
    [
      'in a constant list as const',
      'const list = [add, written] as const; export default new LlmAgent({ name: "a", model, tools: list })',
      ['add'],
    ],
    [
      'in a shorthand property',
      'const tools = [add]; export default new LlmAgent({ name: "a", model, tools })',
      ['add'],
    ],
    ['in a list with a written type', 'export const list: ToolSource[] = [add]', ['add']],
    [
      'that are pushed to a list with a written type',
      'const list: ToolSource[] = []; list.push(add); export default list',
      ['add'],
    ],
    ['in a StaticToolset', 'export default new StaticToolset([add, written])', ['add']],
    ['that are pushed to a StaticToolset', 'export default new StaticToolset().push(greet)', ['greet']],
    [
      'beside a built-in tool that is called',
      'export default [add, toolSource(() => [])] satisfies ToolSource[]',
      ['add'],
    ],
    [
      'whose result has a property with the name of a method of tools',
      '/** Reads. */\nconst read = (id: string) => ({ declaration: id, listTools: [id] }); export default [read] satisfies ToolSource[]',
      ['read'],
    ],
    ['in a toolSource', 'export default toolSource(() => (flag ? [add] : []))', ['add']],
    [
      'in a function that returns an agent',
      'export const make = (prefix: string) => {\n/** Local. */\nconst local = (a: string) => prefix + a; return new LlmAgent({ name: "a", model, tools: [local] }) }',
      ['local'],
    ],
    ['behind a renamed import', 'import { tool as make } from "toolwright"; export default make(add)', ['add']],
    ['behind a namespace import', 'import * as kit2 from "toolwright"; export default kit2.tool(add)', ['add']],
    [
      'inside of a policy',
      'import { timeout } from "toolwright"; export default new LlmAgent({ name: "a", model, tools: [timeout(tool(add), 5)] })',
      ['add'],
    ],
    [
      'in a function of your own that takes tools',
      'const make = (tools: readonly ToolSource[]) => tools; export default make([add])',
      ['add'],
    ],
    ['with satisfies and parentheses', 'export default [(add)] satisfies ToolSource[]', ['add']],
    [
      'in a list that is mapped to tools',
      'export default [add, greet].map((fn) => tool(fn, { timeoutMs: 5 }))',
      ['add', 'greet'],
    ],
    ['in a list of a loop', 'for (const fn of [add, greet]) tool(fn)', ['add', 'greet']],
    ['in both branches of a condition', 'export default tool(flag ? add : greet)', ['add', 'greet']],
    ['that are spread into arguments', 'const list = [add]; export default new StaticToolset().push(...list)', ['add']],
    [
      'that are assigned in place',
      'let last: ToolSource; export default [(last = add)] satisfies ToolSource[]',
      ['add'],
    ],
    [
      'that a factory returns',
      'const make = (prefix: string) => (name: string) => prefix + name; export default tool(make("a"), { name: "x", description: "X" })',
      ['make'],
    ],
    [
      'that are passed to a generic function of your own',
      'import type { ToolFunction } from "toolwright"; const make = <F extends ToolFunction>(fn: F) => tool(fn); export default make(add)',
      ['add'],
    ],
    [
      'that a wrapper returns with its type',
      'const log = <F extends object>(fn: F): F => fn; export default tool(log(add))',
      ['log'],
    ],
  ])('%s', (_where, source, expected) => {
    expect(wrapped(source)).toEqual(expected)
  })

  test('in JSX files and in JavaScript', () => {
    expect(wrapped('export const t = tool(add); export const element = <b>1</b>', 'virtual.tsx')).toEqual(['add'])
    const code = transform(
      `import { tool } from 'toolwright'\n/** Adds. @param {number} a */\nfunction add(a) { return a }\nexport default tool(add)`.replace(
        '. @',
        '.\n * @',
      ),
      'virtual.js',
    )?.code
    expect(code).toContain('tool(__toolwright0(add))')
    expect(code).toContain('function __toolwright0(value) {')
  })

  test.each([
    [
      'a file without plain functions',
      `${functions}export default new LlmAgent({ name: 'a', model, tools: [written] })`,
    ],
    ['a file that only mentions tools', 'export const tools = [(a: string) => a]'],
    ['an object with functions that is not an agent', `${functions}export default { tools: [add] }`],
    ['callbacks of a tool', `${functions}export default tool({ name: 'x', description: 'X', run: () => add(1, 2) })`],
    [
      'a function of another package called tool',
      `const tool = (fn: (a: string) => string) => fn; export default tool((a: string) => a)`,
    ],
    ['a script without imports and exports', 'const tools = []'],
    ['an empty file', ''],
    [
      'tools that are passed on',
      `${functions}export const make = (tools: readonly ToolSource[]) => new LlmAgent({ name: 'a', model, tools })`,
    ],
    [
      'a function that is passed on',
      `${functions}import type { ToolFunction } from 'toolwright'\nexport const make = (fn: ToolFunction) => tool(fn)`,
    ],
    [
      'a list whose functions cannot be followed',
      `${functions}function make() { return [add] }\nexport default new LlmAgent({ name: 'a', model, tools: make() })`,
    ],
    [
      'a list that can change',
      `${functions}let list = [add]\nlist = []\nexport default new LlmAgent({ name: 'a', model, tools: list })`,
    ],
  ])('and leaves %s alone', (_name, source) => {
    expect(transform(source)).toBeUndefined()
  })
})

test('the code keeps its lines, and everything else follows the last line', () => {
  const source = `${functions}export default [tool(add), tool(greet)]`
  const { code } = transform(source) as TransformedFile
  const before = source.split('\n')
  const after = code.split('\n')
  const changed = before.flatMap((line, at) => (line === after[at] ? [] : [at]))
  expect(changed).toEqual([before.length - 1])
  expect(after[before.length - 1]).toBe('export default [tool(__toolwright0(add)), tool(__toolwright1(greet))]')
})

test('names that the file already uses are avoided', () => {
  const { code } = transform(
    `${functions}const __toolwright0 = 1; export default [__toolwright0, tool(add)]`,
  ) as TransformedFile
  expect(code).toContain('tool(__toolwright_0(add))')
  expect(code).toContain('attachInferred as __toolwright_ }')
})

test('lists in another file are followed to their functions', () => {
  using project = temporaryFolder()
  writeFileSync(project.file('weather.ts'), '/** Reads. */\nexport function read(city: string) { return city }')
  writeFileSync(
    project.file('list.ts'),
    `import { read } from './weather.ts'\nexport const list = [read]\nexport const more = [...list, read]`,
  )
  const agent = `import { LlmAgent } from 'toolwright'\nimport { more } from './list.ts'\nexport default new LlmAgent({ name: 'a', tools: more })`
  const result = inferrer.transform(project.file('agent.ts'), agent) as TransformedFile
  expect(result.code).toContain('tools: __toolwright0(more)')
  expect(result.code).toContain('"name":"read"')
  expect(inferrer.readFiles(project.file('agent.ts'))).toEqual(
    expect.arrayContaining(['agent.ts', 'list.ts', 'weather.ts'].map(project.file)),
  )
})

test('several mistakes are listed together, in the order of the file', () => {
  const source = `import { tool } from 'toolwright'
/** A. */
const a = (callback: () => void, big: bigint) => 1
/** B. */
function b<T>(value: T) { return value }
export default [tool(b), tool(a)]`
  expect(() => transform(source)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        /^3 mistakes .*\n.*virtual\.ts:3:12 .*parameter "callback".*\n.*virtual\.ts:3:34 .*parameter "big".*\n.*virtual\.ts:5:1 Function "b" has type parameters/,
      ),
    }),
  )
})

test.each([
  [
    'a missing doc comment',
    'const f = (a: string) => a\nexport default tool(f)',
    /virtual\.ts:\d+:7 Function "f" has no doc comment/,
  ],
  [
    'a missing name',
    'export default tool((a: string) => a, { description: "X" })',
    /virtual\.ts:\d+:21 This function has no name/,
  ],
  [
    'a method of an instance',
    'class Desk {\n/** Closes. */\nclose(id: string) { return id }\n}\nconst desk = new Desk()\nexport default tool(desk.close)',
    /virtual\.ts:\d+:21 Method "close" needs its instance.*desk\.close\(id\)/,
  ],
  [
    'a context inside of the arguments',
    '/** F. */\nconst f = (args: { id: string; context: ToolContext }) => args.id\nexport default tool(f)',
    /property "context" is the context of the call\. Make it a parameter of its own/,
  ],
  [
    'a part of the context',
    '/** F. */\nconst f = (id: string, context: Pick<ToolContext, "toolConfirmation">) => id\nexport default tool(f)',
    /parameter "context" is a part of the context of the call\. Write ToolContext/,
  ],
  [
    'a built-in tool that is not called',
    'import { googleSearch } from "toolwright"\nexport default new LlmAgent({ name: "a", model, tools: [add, googleSearch] })',
    /virtual\.ts:\d+:62 googleSearch makes tools and is no tool itself\. Call it: googleSearch\(\)\./,
  ],
  [
    'a function of your own that makes a tool and is not called',
    'const search = (index: string) => tool({ name: "search", description: "S", run: () => index })\nexport default [search] satisfies ToolSource[]',
    /virtual\.ts:\d+:17 search makes tools and is no tool itself\. Call it: search\(\.\.\.\)\./,
  ],
  [
    'an async function that makes toolsets and is not called',
    'import { McpToolset } from "toolwright/mcp"\nconst connect = async () => [new McpToolset({ url: "http://localhost" })]\nexport default tool(connect)',
    /virtual\.ts:\d+:21 connect makes tools .* Call it: connect\(\)\./,
  ],
  [
    'toolSource() that is not called',
    'export default new LlmAgent({ name: "a", model, tools: [toolSource] })',
    /toolSource makes tools and is no tool itself\. Call it: toolSource\(\.\.\.\)/,
  ],
])('%s is a mistake with its position', (_what, source, message) => {
  expect(() => transform(functions + source)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(message) }),
  )
})

test('a function of a package is reported where it is used', () => {
  using project = temporaryFolder()
  mkdirSync(project.file('node_modules/dates'))
  writeFileSync(
    project.file('node_modules/dates/package.json'),
    '{ "name": "dates", "type": "module", "types": "index.d.ts" }',
  )
  writeFileSync(
    project.file('node_modules/dates/index.d.ts'),
    '/** Adds. */\nexport declare function addDays<T>(date: T, days: number): T',
  )
  const source = `import { tool } from 'toolwright'\nimport { addDays } from 'dates'\nexport default tool(addDays)`
  expect(() => inferrer.transform(project.file('agent.ts'), source)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        /agent\.ts:3:21 Function "addDays" has type parameters.*Wrap it in a function of your own/,
      ),
    }),
  )
})

test('explicit parameters allow types that have no schema', () => {
  const source = `import { tool } from 'toolwright'
/** A. */
const a = (query: any, limit: number) => 1
export default tool(a, { parameters: { type: 'object', properties: { query: {}, limit: { type: 'number' } } } })`
  expect(transform(source)?.code).toContain('"call":[{"argument":"query"},{"argument":"limit"}]')
})

test('a changed type in another file changes the result of the same transform', () => {
  using project = temporaryFolder()
  const agent = `import { tool } from 'toolwright'\nimport type { Query } from './types.ts'\n/** Finds. */\nconst find = (query: Query) => 1\nexport default tool(find)`
  writeFileSync(project.file('types.ts'), 'export interface Query { text: string }')
  expect(inferrer.transform(project.file('agent.ts'), agent)?.code).toContain('"text":{"type":"string"}')
  writeFileSync(project.file('types.ts'), 'export interface Query { text: string; limit: number }')
  expect(inferrer.transform(project.file('agent.ts'), agent)?.code).toContain('"limit":{"type":"number"}')
})

test('a member that got another function is not taken for the one it was created with', () => {
  const { code } = transform(`${functions}export default [tool(Orders.refund), tool(kit.ping)]`) as TransformedFile
  expect(code).toContain('if ((value as { name?: unknown } | undefined)?.name !== "refund") return value; return')
  expect(code).toContain('?.name !== "ping") return value; return')
})
