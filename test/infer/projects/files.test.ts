// Files that are broken, empty, large, deleted, or written in unusual ways.
import { describe, expect, test } from 'vitest'
import { createProject, functionsIn, shared } from './project-kit.ts'

const search = `
import { tool } from 'toolwright'
/** Search. */
export function search(query: string) { return query }
export default tool(search)
`

describe('an import that cannot be found', () => {
  const broken = `
import { tool } from 'toolwright'
import type { Query } from './missing.ts'
/** Search. */
export function search(query: Query, limit: number) { return [query, limit] }
export default tool(search)
`

  test('is refused with the position of the parameter that needs it', () => {
    const project = createProject({ 'tools.ts': broken })
    expect(() => project.functions('tools.ts')).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        message: expect.stringMatching(/tools\.ts:5:24 The type of parameter "query" cannot be found/),
      }),
    )
  })

  test('is found after the file was created', () => {
    const project = createProject({ 'tools.ts': broken })
    expect(() => project.functions('tools.ts')).toThrow('cannot be found')
    project.write('missing.ts', "export type Query = 'all' | 'some'")
    expect(project.functions('tools.ts')[0]?.parameters.properties).toMatchObject({ query: { enum: ['all', 'some'] } })
  })

  test('is refused again after the file was deleted', () => {
    const project = createProject({ 'tools.ts': broken, 'missing.ts': 'export type Query = string' })
    expect(project.functions('tools.ts')).toHaveLength(1)
    project.remove('missing.ts')
    expect(() => project.functions('tools.ts')).toThrow('cannot be found')
  })

  test('that no tool needs does not matter', () => {
    const project = createProject({
      'tools.ts': `import './style.css'\nimport gone from 'gone'\n${search}export { gone }`,
    })
    expect(project.functions('tools.ts')).toHaveLength(1)
    expect(project.functions('tools.ts')).toHaveLength(1)
  })
})

describe('a file with a syntax error is left to Node', () => {
  test.each([
    ['after the tool', `${search}export const = 5\n`],
    ['in the function', search.replace('return query', 'return query +')],
    ['in a parameter', search.replace('query: string', 'query: string,, limit:')],
    ['that is not finished', search.slice(0, -12)],
    ['that is no program', 'tool {{{{ <<<< >>>> ${'],
  ])('%s', (_, source) => {
    const project = createProject({ 'tools.ts': source })
    expect(shared.transform(project.path('tools.ts'), source)).toBeUndefined()
  })
})

describe('a file is read', () => {
  test.each<[string, string]>([
    ['with CRLF line ends', search.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${search}`],
    ['with a hashbang', `#!/usr/bin/env node${search}`],
    ['with a byte order mark and CRLF', `\ufeff${search.replaceAll('\n', '\r\n')}`],
    ['without a line end', search.trim()],
  ])('%s, and only the tool is wrapped', (_, source) => {
    const project = createProject({ 'tools.ts': source })
    const { code = '' } = shared.transform(project.path('tools.ts'), source) ?? {}
    expect(functionsIn(code)).toMatchObject([{ name: 'search', description: 'Search.', call: [{ argument: 'query' }] }])
    expect(code.startsWith(source.replace(/tool\(search\)\s*$/, 'tool(__toolwright0(search))'))).toBe(true)
  })

  test('with names and paths outside of ASCII', () => {
    const name = 'größe 🙂/wèrkzeug.ts'
    const source = search.replaceAll('search', 'größe').replaceAll('query', '名前').replace('Search.', 'Größe 🙂.')
    const project = createProject({ [name]: source })
    expect(project.functions(name)).toMatchObject([
      { name: 'größe', description: 'Größe 🙂.', call: [{ argument: '名前' }] },
    ])
  })

  test('with the text that the bundler has, not that of the disk', () => {
    const project = createProject({ 'tools.ts': search })
    const newer = search.replace('query: string', 'query: number')
    const { code = '' } = shared.transform(project.path('tools.ts'), newer) ?? {}
    expect(functionsIn(code)[0]?.parameters.properties).toEqual({ query: { type: 'number' } })
    expect(project.functions('tools.ts')[0]?.parameters.properties).toEqual({ query: { type: 'string' } })
  })

  test('that was deleted, or never was on the disk', () => {
    const project = createProject({ 'tools.ts': search })
    project.functions('tools.ts')
    project.remove('tools.ts')
    for (const name of ['tools.ts', 'virtual.ts']) {
      const { code = '' } = shared.transform(project.path(name), search) ?? {}
      expect(functionsIn(code)).toHaveLength(1)
    }
  })

  test('with 100 tools and several thousand lines', () => {
    const many = Array.from(
      { length: 100 },
      (_, at) =>
        `/** Tool ${at}. */\nexport function tool${at}(query: string, at: ${at}) { return [query, at] }\n${'// line\n'.repeat(50)}`,
    )
    const names = many.map((_, at) => `tool${at}`)
    const source = `import { LlmAgent } from 'toolwright'\n${many.join('')}export default new LlmAgent({ name: 'a', tools: [${names}] })\n`
    const project = createProject({ 'tools.ts': source })
    expect(project.functions('tools.ts').map(({ name }) => name)).toEqual(names)
  })
})

test.each([
  ['an empty file', ''],
  ['a file without tools', 'export const a = 1'],
  ['a comment about tools', '// tools\n'],
  ['a script', 'const tool = 1'],
  ['a tool of another package', "import { tool } from 'ai'\nexport default tool(() => 1)"],
  ['JSON', '{ "tool": 1 }'],
])('%s is not changed', (_, source) => {
  const project = createProject({ 'a.ts': source })
  expect(shared.transform(project.path('a.ts'), source)).toBeUndefined()
})
