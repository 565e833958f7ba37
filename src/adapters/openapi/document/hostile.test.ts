// OA-04, OA-06 and OA-07: documents that try to read files, to take memory and time, or to confuse names.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { nameProblem } from '../../../engine/tool/tool.ts'
import { readTextFile } from '../read.ts'
import { accepts, api, fits } from './document.test-kit.ts'
import { type LoadedDocument, loadDocument } from './load-document.ts'

// The machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

vi.mock(import('../read.ts'), async (original) => {
  const actual = await original()
  return { readTextFile: vi.fn(actual.readTextFile) }
})

const body = (schema: unknown): JsonObject => ({
  requestBody: { required: true, content: { 'application/json': { schema } } },
})
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })

function compileAll({ operations }: LoadedDocument): void {
  for (const { name, argumentsSchema } of operations) compileSchema(argumentsSchema, name, { object: true })
}

describe('references out of the document', () => {
  const SECRET = 'canary-7d1f'
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openapi-'))
    await writeFile(join(folder, 'secret.json'), JSON.stringify({ type: 'string', description: SECRET }))
    await symlink(join(folder, 'secret.json'), join(folder, 'link.json'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  afterEach(() => vi.restoreAllMocks())

  test('are neither read nor fetched, and take only their operations away', async () => {
    const fetch = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network'))
    const references = [
      'http://127.0.0.1:1/x.json',
      'https://127.0.0.1:1/x.json#/a',
      '//127.0.0.1/x.json',
      '\\\\127.0.0.1\\share\\x.json',
      pathToFileURL(join(folder, 'secret.json')).href,
      join(folder, 'secret.json'),
      join(folder, 'link.json'),
      'link.json',
      '../../../../../../etc/passwd',
      'data:application/json,{"type":"string"}',
      'javascript:1',
      'secret.json#/description',
      '',
      '#/components/schemas/missing',
      '#/__proto__/toString',
      '#/constructor',
      '#/components/schemas/constructor',
    ]
    const paths = Object.fromEntries(
      references.flatMap(($ref, i) => [
        [`/schema/${i}`, { post: body({ $ref }) }],
        [`/parameter/${i}`, { get: { parameters: [{ $ref }] } }],
        [`/body/${i}`, { post: { requestBody: { $ref } } }],
        [`/item/${i}`, { $ref }],
        [`/response/${i}`, { get: { responses: { 200: { $ref } } } }],
      ]),
    )
    await writeFile(
      join(folder, 'api.json'),
      JSON.stringify(
        api(
          { ...paths, '/honest': { post: body(ref('Pet')) } },
          { components: { schemas: { Pet: { type: 'object' } } } },
        ),
      ),
    )
    const loaded = await loadDocument(join(folder, 'api.json'))
    const usable = loaded.operations.filter(({ path }) => !path.startsWith('/response/'))
    expect(usable.map(({ path }) => path)).toEqual(['/honest'])
    expect(
      loaded.operations.every(({ path, responseSchema }) => path === '/honest' || responseSchema === undefined),
    ).toBe(true)
    // one line for each reason: a schema, a parameter, a body and a path item that refer to the same place are together
    expect(loaded.problems).toHaveLength(references.length)
    expect(JSON.stringify(loaded)).not.toContain(SECRET)
    expect(fetch).not.toHaveBeenCalled()
    expect(vi.mocked(readTextFile).mock.calls.map(([path]) => path)).toEqual([join(folder, 'api.json')])
  })

  test('in security schemes and servers are not followed either', async () => {
    const { securitySchemes, problems } = await loadDocument(
      api({}, { components: { securitySchemes: { a: { $ref: 'file:///etc/passwd' }, b: { type: 'apiKey' } } } }),
    )
    expect([...securitySchemes.keys()]).toEqual(['b'])
    expect(problems).toHaveLength(1)
  })
})

describe('YAML', () => {
  const yaml = (rest: string): Promise<LoadedDocument> =>
    loadDocument(`openapi: 3.1.0\ninfo: { title: Pets }\npaths:\n  /pets: { get: { operationId: list } }\n${rest}\n`)

  test('anchors, aliases and merge keys of honest documents work', async () => {
    const { operations } = await yaml(`  /base: &base { get: &get { summary: Base, deprecated: true } }
  /alias: *base
  /merged: { put: { <<: *get, summary: Merged } }
  /list: { put: { <<: [{ summary: First }, *get] } }`)
    expect(operations.map(({ path, description, isDeprecated }) => [path, description, isDeprecated])).toEqual([
      ['/pets', 'GET /pets', false],
      ['/base', 'Base', true],
      ['/alias', 'Base', true],
      ['/merged', 'Merged', true],
      ['/list', 'First', true],
    ])
  })

  const chain = (last: (i: number) => string): string =>
    Array.from({ length: 40 }, (_, i) => `x${i}: &x${i} ${i === 0 ? '{ a: 1 }' : last(i - 1)}`).join('\n')

  test.each([
    ['a bomb of aliases', chain((i) => `[*x${i}, *x${i}]`)],
    ['a bomb of merge keys', chain((i) => `{ <<: [*x${i}, *x${i}] }`)],
    ['more than 100 aliases', Array.from({ length: 101 }, (_, i) => `x${i}: [&x${i} { a: 1 }, *x${i}]`).join('\n')],
    ['a tag of JavaScript', 'x: !!js/function "() => 1"'],
    ['a tag of an application', 'x: !include other.yaml'],
    ['a merge key that merges itself', 'x: &x { <<: *x }'],
    ['merge keys in a circle', 'x: &x { y: &y { <<: *x }, <<: *y }'],
    ['a duplicate key', 'x: 1\nx: 2'],
    ['several documents', '---\nx: 1'],
    ['a key that is a list', '? [a]\n: 1'],
    ['100,000 levels of nesting', `x: ${'['.repeat(100_000)}`],
    ['more text than the limit', `x: ${'a'.repeat(8 * 1024 * 1024)}`],
  ])('refuses %s', async (_, rest) => {
    await expect(yaml(rest)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  test('a map of 100,000 keys is read in time', async () => {
    const keys = Array.from({ length: 100_000 }, (_, i) => `  x-${i}: 1`).join('\n')
    expect((await yaml(`x:\n${keys}`)).operations).toHaveLength(1)
  })

  test('a map that contains itself is data, or takes its operation away', async () => {
    const { operations } = await yaml('components: { schemas: { a: &a { properties: { b: *a } } } }\nx-a: &b [*b]')
    expect(operations).toHaveLength(1)
  })
})

describe('large documents', () => {
  test('refuses more than 20 MiB of text', async () => {
    await expect(loadDocument(`{"openapi":"3.1.0","x":"${'a'.repeat(20 * 1024 * 1024)}"}`)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
    })
  })

  test('loads 20 MB of text', async () => {
    const filler = Array.from({ length: 20_000 }, (_, i) => ({ id: i, text: 'x'.repeat(950) }))
    const { operations } = await loadDocument(JSON.stringify(api({ '/a': { get: {} } }, { 'x-data': filler })))
    expect(operations).toHaveLength(1)
  })

  test('loads 20,000 operations that share a schema, and leaves out the others', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [
        `S${i}`,
        { type: 'object', properties: { next: ref(`S${(i + 1) % 50}`) } },
      ]),
    )
    const paths = Object.fromEntries(Array.from({ length: 20_010 }, (_, i) => [`/p${i}`, { post: body(ref('S0')) }]))
    const loaded = await loadDocument(api(paths, { components: { schemas } }))
    expect(loaded.operations).toHaveLength(20_000)
    expect(loaded.problems).toEqual([
      'The operations from "POST /p20000" on are left out: a toolset may have 20000. Name those you need in toolFilter.',
    ])
    const [first, last] = [loaded.operations[0], loaded.operations[19_999]].map(
      (one) => one?.argumentsSchema.$defs as JsonObject,
    )
    expect(first?.S0).toBe(last?.S0)
  })

  test('a cyclic graph of 500 schemas stays a graph of references', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [
        `S${i}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 5 }, (_, k) => [`p${k}`, ref(`S${(i * 7 + k * 31) % 500}`)]),
          ),
        },
      ]),
    )
    const loaded = await loadDocument(api({ '/a': { post: body(ref('S1')) } }, { components: { schemas } }))
    compileAll(loaded)
    expect(loaded.operations).toHaveLength(1)
  })

  test('an allOf lattice with 2^30 paths is loaded and checked', async () => {
    const schemas: JsonObject = {
      L30: { type: 'object', properties: { a: { type: 'integer' } } },
      R30: { type: 'object' },
    }
    for (let i = 29; i >= 0; i--)
      for (const side of ['L', 'R']) schemas[`${side}${i}`] = { allOf: [ref(`L${i + 1}`), ref(`R${i + 1}`)] }
    const multipart = { requestBody: { content: { 'multipart/form-data': { schema: ref('L0') } } } }
    const loaded = await loadDocument(
      api({ '/a': { post: body(ref('L0')), put: multipart } }, { components: { schemas } }),
    )
    expect(loaded.operations).toHaveLength(2)
    compileAll(loaded)
  })

  test.each([
    ['nested schemas', (inner: unknown) => ({ items: inner }), '{}'],
    ['nested alternatives', (inner: unknown) => ({ allOf: [inner] }), '{}'],
    ['nested values', (inner: unknown) => [inner], '[]'],
  ])('10,000 levels of %s take only their operation away', async (_, wrap, start) => {
    let deep: unknown = JSON.parse(start)
    for (let i = 0; i < 10_000; i++) deep = wrap(deep)
    const schema = Array.isArray(deep) ? { const: deep } : deep
    const { operations } = await loadDocument(api({ '/a': { post: body(schema) }, '/b': { get: {} } }))
    expect(operations.map(({ path }) => path)).toEqual(['/b'])
  })

  test.each([
    ['in the same value', (next: JsonObject) => ({ allOf: [next] })],
    ['one after the other', (next: JsonObject) => next],
  ])('a chain of 10,000 references %s takes only its operation away', async (_, wrap) => {
    const schemas = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`S${i}`, wrap(ref(`S${i + 1}`))]))
    schemas.S10000 = { type: 'string' }
    const { operations, problems } = await loadDocument(
      api({ '/a': { post: body(ref('S0')) }, '/b': { post: body(ref('S9990')) } }, { components: { schemas } }),
    )
    expect(operations.map(({ path }) => path)).toEqual(['/b'])
    expect(problems).toHaveLength(1)
  })

  test('a chain of 10,000 references in properties is cut', async () => {
    const schemas: JsonObject = { S10000: { type: 'string' } }
    for (let i = 0; i < 10_000; i++) schemas[`S${i}`] = { properties: { a: ref(`S${i + 1}`) } }
    const loaded = await loadDocument(api({ '/a': { post: body(ref('S0')) } }, { components: { schemas } }))
    expect(loaded.operations).toHaveLength(1)
    expect(loaded.problems).toEqual([expect.stringMatching(/^POST \/a: the schema of the arguments is cut/)])
    compileAll(loaded)
  })

  test('1,000 operations of one cyclic graph share the list of its definitions', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`S${i}`, { items: ref(`S${(i + 1) % 1_000}`) }]),
    )
    const paths = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`/p${i}`, { post: body(ref(`S${i}`)) }]))
    const { operations } = await loadDocument(api(paths, { components: { schemas } }))
    expect(operations).toHaveLength(1_000)
    expect(new Set(operations.map(({ argumentsSchema }) => argumentsSchema.$defs)).size).toBe(1)
  })

  test('many operations with many different definitions each stay within a bound', async () => {
    const schemas: JsonObject = { S1500: {} }
    for (let i = 0; i < 1_500; i++) schemas[`S${i}`] = { items: ref(`S${i + 1}`) }
    const paths = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`/p${i}`, { post: body(ref(`S${i}`)) }]))
    const { operations, problems } = await loadDocument(api(paths, { components: { schemas } }))
    const [, more] = / and (\d+) more are left out: /.exec(problems[0] ?? '') ?? []
    expect(operations.length + 5 + Number(more)).toBe(1_000)
    expect(
      operations.reduce((sum, { argumentsSchema }) => sum + Object.keys(argumentsSchema.$defs as object).length, 0),
    ).toBeLessThanOrEqual(500_000)
    expect(problems[0]).toContain('refer to more than 500000 definitions')
  })

  test('large parts that many operations share are read once', async () => {
    const many = (count: number, value: unknown): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x/k${i}`, value]))
    const item = {
      summary: 'x',
      ...many(100_000, {}),
      additionalOperations: many(100_000, {}),
      post: {
        requestBody: { content: { 'multipart/form-data': { schema: ref('Large') } } },
        responses: { 200: { $ref: '#/components/responses/R' } },
      },
    }
    const paths = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`/p${i}`, { $ref: '#/components/pathItems/I', description: 'x' }]),
    )
    const document = api(
      { ...paths, '/honest': { get: {} } },
      {
        servers: [{ url: '/', variables: many(100_000, { default: 'x' }) }],
        security: [many(100_000, [])],
        components: {
          pathItems: { I: item },
          responses: { R: { content: many(100_000, {}) } },
          schemas: {
            Large: {
              type: 'object',
              properties: many(100_000, { type: 'string' }),
              discriminator: { propertyName: 'a', mapping: many(100_000, 'x') },
              oneOf: Array.from({ length: 1_000 }, () => ref('Large')),
            },
          },
        },
      },
    )
    const { operations, problems } = await loadDocument(document)
    expect(operations.map(({ path }) => path)).toEqual(['/honest'])
    expect(problems).toEqual([expect.stringMatching(/ and 495 more are left out: /)])
  })

  test('one large path item that many paths share is read once', async () => {
    const parameters = Array.from({ length: 400 }, (_, i) => ({
      name: `p${i}`,
      in: 'query',
      schema: { enum: Array.from({ length: 20 }, (_, k) => k) },
    }))
    const content = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`application/x-${i}`, {}]))
    const item = { parameters, post: { requestBody: { $ref: '#/components/requestBodies/B' } } }
    const paths = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`/p${i}`, { $ref: '#/components/pathItems/I' }]),
    )
    const { operations } = await loadDocument(
      api(paths, { components: { pathItems: { I: item }, requestBodies: { B: { content } } } }),
    )
    expect(operations).toHaveLength(1_000)
  })
})

describe('names', () => {
  const operationIds = [
    '__proto__',
    '__proto__',
    'constructor',
    'x'.repeat(1_000),
    `${'x'.repeat(999)}y`,
    '🎉',
    '',
    undefined,
    'get pet',
    'getPet',
    'get_pet',
    5,
    null,
  ]

  test('are valid, unique and the same in any order', async () => {
    const entries = operationIds.map((operationId, i) => [`/p${i}`, { get: { operationId } }] as const)
    const load = async (list: typeof entries): Promise<Map<string, string>> => {
      const { operations } = await loadDocument(api(Object.fromEntries(list)))
      return new Map(operations.map(({ path, name }) => [path, name]))
    }
    const names = await load(entries)
    expect(new Set(names.values()).size).toBe(operationIds.length)
    for (const name of names.values()) {
      expect(nameProblem(name)).toBeUndefined()
      expect(name.length).toBeLessThanOrEqual(64)
    }
    expect(await load(entries.toReversed())).toEqual(new Map([...names].toReversed()))
  })

  test('__proto__ is an ordinary key everywhere [DG-15]', async () => {
    const text = `{"openapi":"3.1.0","info":{"title":"x"},"security":[{"__proto__":["a"]}],
      "paths":{"/a/{__proto__}":{"post":{"operationId":"__proto__",
        "parameters":[{"name":"__proto__","in":"path","schema":{"$ref":"#/components/schemas/__proto__"}}],
        "requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"__proto__":{"format":"binary"}}},
          "encoding":{"__proto__":{"contentType":"text/plain"}}}}},
        "responses":{"200":{"content":{"application/json":{"schema":{"properties":{"__proto__":{"type":"integer"}}}}}}}}},
        "__proto__":{"get":{}}},
      "servers":[{"url":"https://127.0.0.1/{__proto__}","variables":{"__proto__":{"default":"x"}}}],
      "components":{"schemas":{"__proto__":{"type":"integer"}},"securitySchemes":{"__proto__":{"type":"http"}}}}`
    const { operations, securitySchemes, problems } = await loadDocument(text)
    expect(problems).toEqual(['Path "__proto__" is left out: a path starts with "/".'])
    const [operation] = operations
    if (!operation) throw new Error('no operation')
    expect(operation.parameters.map(({ argument, name }) => [argument, name])).toEqual([['proto', '__proto__']])
    expect(accepts(operation, { proto: 1 })).toBe(true)
    expect(accepts(operation, { proto: 'x' })).toBe(false)
    expect(operation.body?.fileProperties.has('__proto__')).toBe(true)
    expect(fits(operation.responseSchema, JSON.parse('{"__proto__":"x"}'))).toBe(false)
    expect([...securitySchemes.keys()]).toEqual(['__proto__'])
    expect(operation.servers[0]?.variables.get('__proto__')).toEqual({ default: 'x', enum: undefined })
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})
