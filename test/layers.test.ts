import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commands, entryPoints, sourceBySpecifier } from '../entry-points.ts'
import {
  barrels,
  fileCycles,
  folderCycles,
  layers,
  nodeImports,
  toolRuns,
  unknownFolders,
  upwardImports,
  webImports,
} from './layers.ts'
import { pageSources, productSources, type Source } from './source.ts'

describe('the source code in src', () => {
  const sources = productSources()
  const specifiers = sourceBySpecifier()
  const entryFiles = new Set([...entryPoints(), ...commands()].map(({ source }) => source))

  test('is found', () => expect(sources.length).toBeGreaterThan(0))
  test('has no folder without a layer', () => expect(unknownFolders(sources)).toEqual([]))
  test('imports from its own and lower layers only', () => expect(upwardImports(sources, specifiers)).toEqual([]))
  test('has no import cycle between files', () => expect(fileCycles(sources, specifiers)).toEqual([]))
  test('has no import cycle between folders', () => expect(folderCycles(sources, specifiers)).toEqual([]))
  test('imports node: modules in the listed files and layers only', () => expect(nodeImports(sources)).toEqual([]))
  test('has an index.ts in entry points only', () => expect(barrels(sources, entryFiles)).toEqual([]))
  test('calls the body of a tool in the dispatcher only', { timeout: 60_000 }, () =>
    expect(toolRuns(sources)).toEqual([]),
  )
})

test('the page imports nothing from commands, servers and agents, and listed files of the runner only', () => {
  const sources = pageSources()
  expect(sources.length).toBeGreaterThan(100)
  expect(webImports(sources, sourceBySpecifier())).toEqual([])
})

describe('the list of layers', () => {
  const highestFirst = layers.toReversed().map((folders) => [...folders])

  test('has existing folders only', () => {
    expect(layers.flat().filter((folder) => !existsSync(`src/${folder}`))).toEqual([])
  })
  test('is drawn in AGENTS.md', () => {
    const [, drawn = ''] = /^## Layers\n.*?\n\n((?: {4}[^\n]*\n)+)/ms.exec(readFileSync('AGENTS.md', 'utf8')) ?? []
    const rows = drawn
      .trimEnd()
      .split('\n')
      .map((line) => /^ {4}(\w*) +(.*)$/.exec(line) ?? [])
    expect(withRings(rows.map(([, ring = '', folders = '']) => [ring, folders.split(/ +/)]))).toEqual(highestFirst)
  })
  test('is drawn in docs/contributing/architecture.md', () => {
    const text = readFileSync('docs/contributing/architecture.md', 'utf8')
    const [, table = ''] = /^## The layers\n.*?\|---\|---\|---\|\n((?:\|[^\n]*\n)+)/ms.exec(text) ?? []
    const rows = table
      .trim()
      .split('\n')
      .map((row) => row.split('|'))
    const wordsOf = (cell = ''): string[] => cell.match(/[\w-]+/g) ?? []
    expect(withRings(rows.map(([, ring, folders]) => [wordsOf(ring).join(), wordsOf(folders)]))).toEqual(highestFirst)
  })
})

/** Folders with their ring. A row without a ring belongs to the ring above. */
function withRings(rows: readonly (readonly [ring: string, folders: readonly string[]])[]): string[][] {
  let current = ''
  return rows.map(([ring, folders]) => {
    current = ring || current
    return folders.map((folder) => `${current}/${folder}`)
  })
}

const rootOnly = new Map([['toolwright', 'src/index.ts']])

function files(texts: Record<string, string>): Source[] {
  return Object.entries(texts).map(([file, text]) => ({ file, text }))
}

describe('the rule that every folder has a layer', () => {
  test.each(['src/utils/a.ts', 'src/core/utils/a.ts', 'src/core/stray.ts', 'src/stray.ts'])('rejects %s', (file) => {
    expect(unknownFolders([{ file, text: '' }])).toHaveLength(1)
  })
  test('accepts the root entry point and known folders', () => {
    expect(
      unknownFolders(
        files({ 'src/index.ts': '', 'src/adapters/ai-sdk/index.ts': '', 'src/adapters/testing/server/a.ts': '' }),
      ),
    ).toEqual([])
  })
})

describe('the rule against upward imports', () => {
  test.each([
    ['an import of a value', "import { a } from '../dispatch/a.ts'"],
    ['an import of a type', "import type { A } from '../dispatch/a.ts'"],
    ['a re-export', "export { a } from '../dispatch/a.ts'"],
    ['a re-export of everything', "export * from '../dispatch/a.ts'"],
    ['a dynamic import', "export const a = () => import('../dispatch/a.ts')"],
    ['an import type', "export type A = import('../dispatch/a.ts').A"],
    ['an import of the root entry point by its specifier', "import { a } from 'toolwright'"],
    ['an import of the root entry point by its path', "import { a } from '../../index.ts'"],
  ])('rejects %s', (_, text) => {
    expect(upwardImports(files({ 'src/engine/policy/b.ts': text }), rootOnly)).toHaveLength(1)
  })
  test('accepts imports from lower layers, from the same layer and from packages, and any import in the root entry point', () => {
    const sources = files({
      'src/engine/dispatch/a.ts': "import '../policy/b.ts'; import './c.ts'; import 'zod'",
      'src/index.ts': "export { a } from './apps/cli/a.ts'",
      'src/apps/cli/a.ts': "import 'toolwright'",
    })
    expect(upwardImports(sources, rootOnly)).toEqual([])
  })
})

describe('the rule for imports of the page', () => {
  test.each([
    'apps/cli/consent/a.ts',
    'apps/server/wire/a.ts',
    'engine/runner/runner.ts',
    'engine/agent/agents/agent.ts',
    'index.ts',
  ])('rejects one of src/%s', (file) => {
    expect(webImports(files({ 'web/src/a.tsx': `import { a } from '../../src/${file}'` }), rootOnly)).toHaveLength(1)
  })
  test.each([
    'core/base/json.ts',
    'core/event/event.ts',
    'services/auth/consent/a.ts',
    'engine/runner/runner-options.ts',
  ])('accepts one of src/%s', (file) => {
    expect(webImports(files({ 'web/src/a.tsx': `import { a } from '../../src/${file}'` }), rootOnly)).toEqual([])
  })
})

describe('the rule against import cycles', () => {
  test('rejects a cycle between files that consists of type imports', () => {
    const sources = files({
      'src/engine/tool/a.ts': "import type { B } from './b.ts'",
      'src/engine/tool/b.ts': "import type { C } from './c.ts'",
      'src/engine/tool/c.ts': "export type C = import('./a.ts').A",
    })
    expect(fileCycles(sources, rootOnly)).toEqual([
      'src/engine/tool/a.ts -> src/engine/tool/b.ts -> src/engine/tool/c.ts -> src/engine/tool/a.ts',
    ])
  })
  test('rejects a cycle between two folders of one layer without a cycle between files', () => {
    const sources = files({
      'src/services/session/a.ts': "import '../artifact/a.ts'",
      'src/services/artifact/b.ts': "import '../session/b.ts'",
    })
    expect(fileCycles(sources, rootOnly)).toEqual([])
    expect(folderCycles(sources, rootOnly)).toEqual(['services/session -> services/artifact -> services/session'])
  })
  test('accepts imports in one direction, and two files that import the same file', () => {
    const sources = files({
      'src/services/session/a.ts': "import '../artifact/a.ts'; import './b.ts'",
      'src/services/session/b.ts': "import '../artifact/a.ts'",
    })
    expect([...fileCycles(sources, rootOnly), ...folderCycles(sources, rootOnly)]).toEqual([])
  })
})

describe('the rule against node: imports', () => {
  test.each([
    ['src/core/base/a.ts', "import 'node:fs'"],
    ['src/adapters/mcp/client.ts', "import type { Socket } from 'node:net'"],
    ['src/adapters/testing/a.ts', "await import('node:http')"],
    ['src/adapters/tools/a.ts', "import { join } from 'path'"],
    ['src/index.ts', "export { join } from 'node:path'"],
  ])('rejects one in %s', (file, text) => {
    expect(nodeImports([{ file, text }])).toHaveLength(1)
  })
  test.each([
    'src/apps/cli/a.ts',
    'src/apps/sqlite/a.ts',
    'src/adapters/mcp/stdio.ts',
    'src/adapters/openapi/read.ts',
    'src/adapters/testing/server/a.ts',
  ])('accepts one in %s', (file) => {
    expect(nodeImports([{ file, text: "import 'node:fs'" }])).toEqual([])
  })
})

describe('the rule against barrels', () => {
  test.each([
    ['src/engine/tool/index.ts', 'export const a = 1'],
    ['src/engine/tool/all.ts', "export * from './a.ts'\nexport { b } from './b.ts'"],
    ['src/engine/tool/more.ts', "import { a } from './a.ts'\nexport { a }"],
  ])('rejects %s', (file, text) => {
    expect(barrels([{ file, text }], new Set(['src/index.ts']))).toHaveLength(1)
  })
  test('accepts an entry point, and a file with a declaration of its own', () => {
    const sources = files({
      'src/index.ts': "export { a } from './a.ts'",
      'src/engine/tool/a.ts': "export { b } from './b.ts'\nexport const a = 1",
    })
    expect(barrels(sources, new Set(['src/index.ts']))).toEqual([])
  })
})

describe('the rule that only the dispatcher runs tools', () => {
  const inFile = (text: string, file = 'src/engine/agent/a.ts'): string[] => toolRuns([{ file, text }])

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
  ])('rejects %s', (text) => {
    expect(inFile(text)).toHaveLength(1)
  })
  test.each([
    'runner.run(input)',
    'agent.run(context)',
    'tool.declaration()',
    'const { run } = options',
    'const wrapped = { ...tool, run: tool.run }',
    'tools.map((each) => each.name)',
  ])('accepts %s', (text) => {
    expect(inFile(text)).toEqual([])
  })
  test('accepts a call in dispatch/execute.ts and in no other file of the folder', () => {
    expect(inFile('tool.run(args)', 'src/engine/dispatch/execute.ts')).toEqual([])
    expect(inFile('tool.run(args)', 'src/engine/dispatch/prepare.ts')).toHaveLength(1)
    expect(inFile('tool.run(args)', 'src/engine/policy/retry.ts')).toHaveLength(1)
  })
})
