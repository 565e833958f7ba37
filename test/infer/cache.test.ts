// The cache of results in node_modules/.cache/toolwright/infer: when it is used, and when it is not trusted.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashOf } from '../../src/apps/infer/cache/hash.ts'
import { createInferrer } from '../../src/apps/infer/create-inferrer.ts'
import { temporaryFolder } from './temporary-folder.ts'

const project = temporaryFolder()
afterAll(() => project[Symbol.dispose]())

const agent = `import { tool } from 'toolwright'
import type { Query } from './types.ts'
/** Finds. */
const find = (query: Query) => 1
export default tool(find)
`
const cacheFolder = join(project.path, 'node_modules/.cache/toolwright/infer')

beforeEach(() => {
  rmSync(cacheFolder, { recursive: true, force: true })
  writeFileSync(project.file('types.ts'), 'export interface Query { text: string }')
  writeFileSync(
    project.file('tsconfig.json'),
    '{ "compilerOptions": { "strict": true, "module": "nodenext", "types": [] } }',
  )
})

const compiling = createInferrer()

/** Transforms with the compiler, which writes the cache. */
const compile = (source = agent): string => compiling.transform(project.file('agent.ts'), source)?.code ?? ''

/** Transforms in a process without a compiler: only the cache can answer. */
function fromCache(source = agent): string | undefined {
  const inferrer = createInferrer({ findCompiler: () => undefined })
  try {
    return inferrer.transform(project.file('agent.ts'), source)?.code ?? 'no functions'
  } catch (error) {
    if ((error as { code?: string }).code === 'MISSING_PEER') return undefined
    throw error
  }
}

const cachedFile = (): string => join(cacheFolder, readdirSync(cacheFolder)[0] as string)

test('a result is used again without the compiler', () => {
  expect(fromCache()).toBeUndefined()
  const code = compile()
  expect(code).toContain('"text":{"type":"string"}')
  expect(fromCache()).toBe(code)
})

test('a file without plain functions is remembered, too', () => {
  compile('export const tools = 1')
  expect(fromCache('export const tools = 1')).toBe('no functions')
})

test('the folder and its files belong to the user only, and a file has one entry', () => {
  compile()
  compile(`${agent}// changed`)
  expect(lstatSync(cacheFolder).mode & 0o777).toBe(0o700)
  expect(lstatSync(cachedFile()).mode & 0o777).toBe(0o600)
  expect(readdirSync(cacheFolder)).toHaveLength(1)
})

test.each<[what: string, change: () => void]>([
  ['a type in another file', () => writeFileSync(project.file('types.ts'), 'export interface Query { text: number }')],
  ['a deleted file', () => rmSync(project.file('types.ts'))],
  [
    'the settings of the project',
    () => writeFileSync(project.file('tsconfig.json'), '{ "compilerOptions": { "types": [] } }'),
  ],
])('a change of %s makes the result invalid', (_what, change) => {
  compile()
  expect(fromCache()).toBeDefined()
  change()
  expect(fromCache()).toBeUndefined()
})

describe('a new file that takes precedence over one that was read makes the result invalid:', () => {
  const settings = (more: object): void => {
    const compilerOptions = { strict: true, module: 'esnext', moduleResolution: 'bundler', types: [], ...more }
    writeFileSync(project.file('tsconfig.json'), JSON.stringify({ compilerOptions }))
  }
  const created: string[] = []
  const create = (name: string, text: string): void => {
    created.push(name)
    mkdirSync(join(project.file(name), '..'), { recursive: true })
    writeFileSync(project.file(name), text)
  }
  afterEach(() => {
    for (const name of created.splice(0)) rmSync(project.file(name), { recursive: true, force: true })
  })

  /** Compiles in a new process, as it were: the settings of a project are read once. */
  const transform = (source: string): string => createInferrer().transform(project.file('agent.ts'), source)?.code ?? ''
  const importing = (from: string): string => agent.replace('./types.ts', from)

  test.each<[what: string, prepare: () => string, name: string, text: string]>([
    [
      'a declaration beside a script',
      () => {
        create('data.js', '/** @typedef {{ text: string }} Query */\nexport {}')
        return importing('./data.js')
      },
      'data.d.ts',
      'export interface Query { text: number }',
    ],
    [
      'an earlier folder of "paths"',
      () => {
        settings({ paths: { '#/*': ['./first/*', './*'] } })
        return importing('#/types.ts')
      },
      'first/types.ts',
      'export interface Query { text: number }',
    ],
    [
      'a declaration with global types',
      () => {
        create('types/globals.d.ts', 'interface Found { text: string }')
        return agent.replace(/import type.*\n/, '').replace('Query', 'Found')
      },
      'types/more/globals.d.ts',
      'interface Found { page: number }',
    ],
    [
      'a tsconfig.json that no longer refers to the project',
      () => {
        create('agent.ts', agent)
        writeFileSync(
          project.file('tsconfig.json'),
          '{ "files": [], "references": [{ "path": "./tsconfig.app.json" }] }',
        )
        create('tsconfig.app.json', '{ "compilerOptions": { "strict": true, "module": "nodenext", "types": [] } }')
        return agent
      },
      'tsconfig.json',
      '{ "compilerOptions": { "module": "nodenext" } }',
    ],
  ])('%s', (_what, prepare, name, text) => {
    const source = prepare()
    const code = transform(source)
    expect(code).toContain('attachInferred')
    expect(fromCache(source)).toBe(code)
    create('output/unused.ts', '')
    create('unused.ts', '')
    expect(fromCache(source)).toBe(code)
    create(name, text)
    expect(fromCache(source)).toBeUndefined()
  })

  test('a declaration with global types, also if a process that is running has not seen it', () => {
    const source = agent.replace(/import type.*\n/, '').replace('Query', 'Found')
    create('globals.d.ts', 'interface Found { text: string }')
    const running = createInferrer()
    running.transform(project.file('agent.ts'), source)
    create('more.d.ts', 'interface Found { page: number }')
    const changed = source.replace('Finds', 'Searches')
    expect(running.transform(project.file('agent.ts'), changed)?.code).not.toContain('page')
    expect(fromCache(changed)).toBeUndefined()
    expect(transform(changed)).toContain('"page":{"type":"number"}')
  })

  test('a package in a nearer node_modules', () => {
    create('src/agent.ts', agent.replace('./types.ts', '../types.ts'))
    const file = project.file('src/agent.ts')
    const source = readFileSync(file, 'utf8')
    const code = createInferrer().transform(file, source)?.code
    const cached = createInferrer({ findCompiler: () => undefined })
    expect(cached.transform(file, source)?.code).toBe(code)
    create('src/node_modules/toolwright/index.d.ts', 'export declare function tool(fn: unknown): unknown')
    const nearer = join(project.path, 'src/node_modules/.cache/toolwright/infer')
    mkdirSync(join(nearer, '..'), { recursive: true })
    renameSync(cacheFolder, nearer) // else there would be no result in the folder that is used now
    expect(() => cached.transform(file, source)).toThrow('needs a TypeScript compiler')
    created.push('src')
  })
})

test('a change of the source text makes the result invalid', () => {
  compile()
  expect(fromCache(agent.replace('Finds', 'Searches'))).toBeUndefined()
})

test('mistakes are not cached', () => {
  const wrong = agent.replace('Query)', '() => void)')
  expect(() => compile(wrong)).toThrow('a function, which a model cannot send')
  expect(fromCache(wrong)).toBeUndefined()
})

/** Changes the cached data and signs it again, as an attacker would who knows the format. */
function forge(change: (data: Record<string, unknown>) => unknown): void {
  const [, body = ''] = readFileSync(cachedFile(), 'utf8').split('\n')
  const forged = JSON.stringify(change(JSON.parse(body)))
  writeFileSync(cachedFile(), `${JSON.stringify({ format: 2, digest: hashOf(forged) })}\n${forged}`)
}

test.each<[what: string, damage: () => void]>([
  ['an empty file', () => writeFileSync(cachedFile(), '')],
  ['half of a file', () => writeFileSync(cachedFile(), readFileSync(cachedFile(), 'utf8').slice(0, 300))],
  ['a changed letter', () => writeFileSync(cachedFile(), readFileSync(cachedFile(), 'utf8').replace('Finds', 'Funds'))],
  [
    'another format',
    () => writeFileSync(cachedFile(), readFileSync(cachedFile(), 'utf8').replace('"format":2', '"format":1')),
  ],
  ['a list instead of an object', () => forge(() => [])],
  [
    'a position outside of the file',
    () => forge((data) => ({ ...data, attachments: [{ start: 0, end: 99_999, shape: [] }] })),
  ],
  ['a negative position', () => forge((data) => ({ ...data, attachments: [{ start: -1, end: 5, shape: [] }] }))],
  [
    'a position that is no number',
    () => forge((data) => ({ ...data, attachments: [{ start: '0', end: 5, shape: [] }] })),
  ],
  [
    'code instead of a schema',
    () => forge((data) => ({ ...data, attachments: [{ start: 0, end: 5, shape: 'process.exit()' }] })),
  ],
  [
    'code as the shorthand name',
    () => forge((data) => ({ ...data, attachments: [{ start: 0, end: 5, isShorthand: 'x(),y', shape: [] }] })),
  ],
  ['no dependencies', () => forge(({ dependencies: _, ...data }) => data)],
  ['a list of dependencies', () => forge((data) => ({ ...data, dependencies: [] }))],
  [
    'a folder that is no text',
    () => forge((data) => ({ ...data, dependencies: { ...(data.dependencies as object), included: [{ path: 5 }] } })),
  ],
])('%s in the cache is ignored, and the result is computed again', (_what, damage) => {
  const code = compile()
  expect(fromCache()).toBe(code)
  damage()
  expect(fromCache()).toBeUndefined()
  expect(compile()).toBe(code)
  expect(fromCache()).toBe(code)
})

test('text in a forged schema stays text', () => {
  compile()
  const text = '"}) } ; globalThis.hacked = true ; function x() { return ({ "a": "\u2028'
  forge((data) => {
    const [first] = data.attachments as { shape: object }[]
    return { ...data, attachments: [{ ...first, shape: { ...first?.shape, description: text } }] }
  })
  expect(fromCache()).toContain(JSON.stringify(text))
})

test.each<[what: string, change: () => void]>([
  ['that others can write', () => chmodSync(cacheFolder, 0o777)],
  ['with a file that others can write', () => chmodSync(cachedFile(), 0o666)],
  [
    'that is a link',
    () => {
      renameSync(cacheFolder, project.file('elsewhere'))
      symlinkSync(project.file('elsewhere'), cacheFolder)
    },
  ],
  [
    'with a file that is a link',
    () => {
      const file = cachedFile()
      renameSync(file, project.file('copy.json'))
      symlinkSync(project.file('copy.json'), file)
    },
  ],
  ...(process.getuid?.() === 0
    ? ([
        ['of another user', () => chownSync(cacheFolder, 65_534, 65_534)],
        ['with a file of another user', () => chownSync(cachedFile(), 65_534, 65_534)],
      ] as [string, () => void][])
    : []),
])('a cache folder %s is not used', (_what, change) => {
  const code = compile()
  change()
  expect(fromCache()).toBeUndefined()
  expect(compile()).toBe(code)
  rmSync(project.file('elsewhere'), { recursive: true, force: true })
})

test('a folder that cannot be written is no error', () => {
  mkdirSync(join(cacheFolder, '..'), { recursive: true })
  writeFileSync(cacheFolder, 'a file where the folder belongs')
  expect(compile()).toContain('attachInferred')
})

test('cache: false neither reads nor writes', () => {
  const inferrer = createInferrer({ cache: false })
  inferrer.transform(project.file('agent.ts'), agent)
  expect(readdirSync(join(cacheFolder, '..'))).toEqual([])
})
