import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { barrels, fileCycles, folderCycles, nodeImports, toolRuns, unknownFolders, upwardImports } from './layers.ts'
import { doors, productSources, type Source } from './source.ts'

describe('our source', () => {
  const sources = productSources()
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  const bins = Object.values<string>(bin).map((file) => posix.join(file).replace('dist/', 'src/').replace('.js', '.ts'))

  test('is there', () => expect(sources.length).toBeGreaterThan(0))
  test('has no folder without a layer', () => expect(unknownFolders(sources)).toEqual([]))
  test('imports down the layers only', () => expect(upwardImports(sources, doors())).toEqual([]))
  test('has no cycle of files', () => expect(fileCycles(sources, doors())).toEqual([]))
  test('has no cycle of folders', () => expect(folderCycles(sources, doors())).toEqual([]))
  test('imports node: only where the design says', () => expect(nodeImports(sources)).toEqual([]))
  test('has an index at its doors only', () =>
    expect(barrels(sources, new Set([...doors().values(), ...bins]))).toEqual([]))
  test('runs a tool in the dispatcher only', () => expect(toolRuns(sources)).toEqual([]))
})

const entrances = new Map([['toolwright', 'src/index.ts']])

function files(texts: Record<string, string>): Source[] {
  return Object.entries(texts).map(([file, text]) => ({ file, text }))
}

describe('a folder without a layer', () => {
  test.each(['src/utils/a.ts', 'src/stray.ts'])('%s is found', (file) => {
    expect(unknownFolders([{ file, text: '' }])).toHaveLength(1)
  })
  test('the root door and known folders pass', () => {
    expect(
      unknownFolders(files({ 'src/index.ts': '', 'src/ai-sdk/index.ts': '', 'src/testing/server/a.ts': '' })),
    ).toEqual([])
  })
})

describe('an upward import', () => {
  test.each([
    ['a value', "import { a } from '../dispatch/a.ts'"],
    ['a type', "import type { A } from '../dispatch/a.ts'"],
    ['a re-export', "export { a } from '../dispatch/a.ts'"],
    ['everything', "export * from '../dispatch/a.ts'"],
    ['at run time', "export const a = () => import('../dispatch/a.ts')"],
    ['inside a type', "export type A = import('../dispatch/a.ts').A"],
    ['through the root door', "import { a } from 'toolwright'"],
    ['of the root door', "import { a } from '../index.ts'"],
  ])('%s is found', (_, text) => {
    expect(upwardImports(files({ 'src/policy/b.ts': text }), entrances)).toHaveLength(1)
  })
  test('down, sideways, a package and the root door pass', () => {
    const sources = files({
      'src/dispatch/a.ts': "import '../policy/b.ts'; import './c.ts'; import 'zod'",
      'src/index.ts': "export { a } from './cli/a.ts'",
      'src/cli/a.ts': "import 'toolwright'",
    })
    expect(upwardImports(sources, entrances)).toEqual([])
  })
})

describe('a cycle', () => {
  test('of files is found, though it is made of types', () => {
    const sources = files({
      'src/tool/a.ts': "import type { B } from './b.ts'",
      'src/tool/b.ts': "import type { C } from './c.ts'",
      'src/tool/c.ts': "export type C = import('./a.ts').A",
    })
    expect(fileCycles(sources, entrances)).toEqual(['src/tool/a.ts -> src/tool/b.ts -> src/tool/c.ts -> src/tool/a.ts'])
  })
  test('of two folders in one layer is found, though no two files form one', () => {
    const sources = files({
      'src/session/a.ts': "import '../artifact/a.ts'",
      'src/artifact/b.ts': "import '../session/b.ts'",
    })
    expect(fileCycles(sources, entrances)).toEqual([])
    expect(folderCycles(sources, entrances)).toEqual(['session -> artifact -> session'])
  })
  test('is not seen where neighbours import in one direction, or two roads lead to one file', () => {
    const sources = files({
      'src/session/a.ts': "import '../artifact/a.ts'; import './b.ts'",
      'src/session/b.ts': "import '../artifact/a.ts'",
    })
    expect([...fileCycles(sources, entrances), ...folderCycles(sources, entrances)]).toEqual([])
  })
})

describe('a node import', () => {
  test.each([
    ['src/base/a.ts', "import 'node:fs'"],
    ['src/mcp/client.ts', "import type { Socket } from 'node:net'"],
    ['src/testing/a.ts', "await import('node:http')"],
    ['src/tools/a.ts', "import { join } from 'path'"],
    ['src/index.ts', "export { join } from 'node:path'"],
  ])('in %s is found', (file, text) => {
    expect(nodeImports([{ file, text }])).toHaveLength(1)
  })
  test.each(['src/cli/a.ts', 'src/sqlite/a.ts', 'src/mcp/stdio.ts', 'src/openapi/read.ts', 'src/testing/server/a.ts'])(
    'in %s passes',
    (file) => {
      expect(nodeImports([{ file, text: "import 'node:fs'" }])).toEqual([])
    },
  )
})

describe('a barrel', () => {
  test.each([
    ['src/tool/index.ts', 'export const a = 1'],
    ['src/tool/all.ts', "export * from './a.ts'\nexport { b } from './b.ts'"],
    ['src/tool/more.ts', "import { a } from './a.ts'\nexport { a }"],
  ])('%s is found', (file, text) => {
    expect(barrels([{ file, text }], new Set(['src/index.ts']))).toHaveLength(1)
  })
  test('a door, and a file that has something of its own, pass', () => {
    const sources = files({
      'src/index.ts': "export { a } from './a.ts'",
      'src/tool/a.ts': "export { b } from './b.ts'\nexport const a = 1",
    })
    expect(barrels(sources, new Set(['src/index.ts']))).toEqual([])
  })
})

describe('a call of a tool body', () => {
  const inFile = (text: string, file = 'src/agent/a.ts'): string[] => toolRuns([{ file, text }])

  test.each([
    'tool.run(args, context)',
    'await call.tool.run(args)',
    'innerTool?.run(args)',
    'call.tool!.run(args)',
    '(call.tool as Tool).run(args)',
    "tool['run'](args)",
    'tools.get(name)?.run(args)',
    'request.tools.get(name)!.run(args)',
    'tools[0].run(args)',
    'function f(found: Tool) { return found.run({}) }',
    'const f = (found: Tool | undefined) => found?.run({})',
    'tool.run.call(tool, args)',
    'const body = tool.run.bind(tool)',
    'const { run } = tool',
    'const { run: body } = call.tool',
    'function f({ run }: Tool) { return run({}) }',
  ])('%s is found', (text) => {
    expect(inFile(text)).toHaveLength(1)
  })
  test.each([
    'runner.run(input)',
    'agent.run(context)',
    'tool.declaration()',
    'const { run } = options',
    'const wrapped = { ...tool, run: tool.run }',
    'tools.map((each) => each.name)',
  ])('%s passes', (text) => {
    expect(inFile(text)).toEqual([])
  })
  test('is the work of dispatch/execute.ts and of no other file there', () => {
    expect(inFile('tool.run(args)', 'src/dispatch/execute.ts')).toEqual([])
    expect(inFile('tool.run(args)', 'src/dispatch/prepare.ts')).toHaveLength(1)
    expect(inFile('tool.run(args)', 'src/policy/retry.ts')).toHaveLength(1)
  })
})
