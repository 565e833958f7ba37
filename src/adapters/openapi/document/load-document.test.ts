import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api, loadOne } from './document.test-kit.ts'
import { loadDocument } from './load-document.ts'

const PETS = api({
  '/pets/{petId}': {
    parameters: [
      { name: 'petId', in: 'path', required: true, schema: { type: 'string' }, description: 'Of the path' },
      { name: 'lang', in: 'query', schema: { type: 'string' } },
    ],
    get: {
      operationId: 'getPet',
      summary: 'Get a pet',
      description: 'Returns one pet.',
      deprecated: true,
      parameters: [{ name: 'lang', in: 'query', required: true, schema: { enum: ['en', 'de'] }, description: 'Wins' }],
      responses: { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } } },
    },
  },
})

const YAML = `
openapi: 3.1.0
info: { title: Pets, version: '1' }
paths:
  /pets:
    get: { operationId: listPets, responses: { 200: { description: ok } } }
`

describe('the source of a document', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openapi-'))
    await writeFile(join(folder, 'pets.yaml'), YAML)
    await writeFile(join(folder, 'large.json'), ' '.repeat(20 * 1024 * 1024 + 1))
    await symlink(join(folder, 'pets.yaml'), join(folder, 'link.yaml'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('is an object, JSON text, YAML text, a path or a file: URL', async () => {
    const path = join(folder, 'pets.yaml')
    const sources = [PETS, JSON.stringify(PETS), `\uFEFF${JSON.stringify(PETS, null, 2)}`]
    for (const source of sources) expect((await loadDocument(source)).title).toBe('Pets')
    for (const source of [YAML, path, pathToFileURL(path).href, pathToFileURL(path)])
      expect((await loadOne(source)).name).toBe('list_pets')
  })

  test.each([
    ['null', null],
    ['a number', 5],
    ['a list', '\n- 1'],
    ['a file that does not exist', '/does/not/exist.json'],
    ['a URL, which is not fetched', 'https://127.0.0.1/openapi.json'],
    ['a data: URL', 'data:application/json,{}'],
    ['a file: URL that is not valid', 'file://host:port/x'],
    ['a document without a version', {}],
    ['a document of another version', { openapi: '4.0.0', paths: {} }],
    ['a document of Swagger 1', { swagger: '1.2', paths: {} }],
    ['text that is neither JSON nor YAML', '{"a": \n'],
    ['paths that are a list', { openapi: '3.1.0', paths: [] }],
  ])('refuses %s', async (_, spec) => {
    await expect(loadDocument(spec)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  test('refuses a file that is too large, and a folder', async () => {
    for (const name of ['large.json', '.'])
      await expect(loadDocument(join(folder, name))).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  test('an object that throws when it is read is INVALID_CONFIG', async () => {
    const paths = {
      get '/pets'(): unknown {
        throw new TypeError('getter')
      },
    }
    await expect(loadDocument(api(paths))).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  test('an object that contains itself takes only its operation away', async () => {
    const schema: { items?: unknown; enum?: unknown[] } = {}
    schema.items = schema
    const values: unknown[] = []
    values.push(values)
    const post = (schema: unknown) => ({ post: { requestBody: { content: { 'application/json': { schema } } } } })
    const { operations } = await loadDocument(api({ '/a': post(schema), '/b': post({ enum: values }), '/c': post({}) }))
    expect(operations.map(({ path }) => path)).toEqual(['/c'])
  })

  test('does not change the object of the developer', async () => {
    const frozen = structuredClone(PETS)
    await loadDocument(PETS)
    expect(PETS).toEqual(frozen)
  })
})

test('merges the parameters of the path and of the operation', async () => {
  const pet = await loadOne(PETS)
  expect(pet).toMatchObject({
    name: 'get_pet',
    method: 'GET',
    path: '/pets/{petId}',
    description: 'Get a pet\n\nReturns one pet.',
    isDeprecated: true,
    body: undefined,
    security: [],
    servers: [],
    responseSchema: { type: 'object' },
    problems: [],
  })
  expect(pet.parameters).toEqual([
    {
      argument: 'petId',
      name: 'petId',
      in: 'path',
      isRequired: true,
      style: 'simple',
      explode: false,
      allowReserved: false,
      contentType: undefined,
    },
    {
      argument: 'lang',
      name: 'lang',
      in: 'query',
      isRequired: true,
      style: 'form',
      explode: true,
      allowReserved: false,
      contentType: undefined,
    },
  ])
  expect(pet.argumentsSchema).toEqual({
    type: 'object',
    properties: {
      petId: { type: 'string', description: 'Of the path' },
      lang: { enum: ['en', 'de'], description: 'Wins' },
    },
    required: ['petId', 'lang'],
    additionalProperties: false,
  })
})

test('follows references in every place', async () => {
  const document = api(
    { '/a~b/{id}': { $ref: '#/components/pathItems/item' } },
    {
      components: {
        pathItems: {
          item: {
            parameters: [{ $ref: '#/components/parameters/alias' }],
            post: {
              requestBody: { $ref: '#/components/requestBodies/Body%20One' },
              responses: { 201: { $ref: '#/components/responses/Ok' } },
              security: [{ key: [] }],
            },
          },
        },
        parameters: {
          alias: { $ref: '#/components/parameters/id' },
          id: { name: 'id', in: 'path', schema: { $ref: '#/components/schemas/x~1y~0z' } },
        },
        requestBodies: { 'Body One': { content: { 'application/json': { schema: { $ref: '#pet' } } } } },
        responses: { Ok: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } } },
        schemas: {
          'x/y~z': { type: 'integer' },
          Pet: {
            $anchor: 'pet',
            type: 'object',
            $defs: { tag: { type: 'string' } },
            properties: { tag: { $ref: '#/components/schemas/Pet/$defs/tag' } },
          },
        },
        securitySchemes: {
          key: { $ref: '#/components/securitySchemes/real' },
          real: { type: 'apiKey', in: 'header', name: 'X' },
        },
      },
    },
  )
  const { operations, securitySchemes, problems } = await loadDocument(document)
  expect(problems).toEqual([])
  const [operation] = operations
  expect(operation?.argumentsSchema).toMatchObject({
    required: ['id'],
    properties: { id: { $ref: expect.any(String) }, tag: { $ref: expect.any(String) } },
  })
  expect(Object.keys(operation?.argumentsSchema.$defs as object)).toHaveLength(2)
  expect(operation?.responseSchema).toMatchObject({ $ref: '#/$defs/Pet' })
  expect(securitySchemes.get('key')).toEqual({ type: 'apiKey', in: 'header', name: 'X' })
})

test('loads OpenAPI 3.2: query, additionalOperations, querystring, the cookie style', async () => {
  const document = {
    openapi: '3.2.0',
    $self: 'https://127.0.0.1:1/api',
    info: { title: 'Search' },
    paths: {
      '/search': {
        query: {
          operationId: 'search',
          requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
        },
        additionalOperations: {
          COPY: {
            operationId: 'copy',
            parameters: [
              {
                name: 'filter',
                in: 'querystring',
                content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
              },
              { name: 'sid', in: 'cookie', style: 'cookie', schema: { type: 'string' } },
            ],
          },
          'bad method': {},
          CONNECT: {},
        },
      },
    },
  }
  const { operations, problems } = await loadDocument(document)
  expect(operations.map(({ method, name }) => [method, name])).toEqual([
    ['QUERY', 'search'],
    ['COPY', 'copy'],
  ])
  expect(operations[1]?.parameters).toMatchObject([
    { in: 'querystring', contentType: 'application/x-www-form-urlencoded' },
    { in: 'cookie', style: 'form' },
  ])
  expect(problems).toHaveLength(2)
})

test('the nearest servers and security apply', async () => {
  const get = { responses: {} }
  const document = api(
    {
      '/document': { get },
      '/path': { servers: [{ url: 'https://path' }], get: { ...get, security: [] } },
      '/operation': {
        servers: [{ url: 'https://path' }],
        get: { servers: [{ url: '/v2' }], security: [{ a: ['x'], b: [] }, { unknown: [] }, {}] },
      },
    },
    {
      servers: [
        {
          url: 'https://{region}.example:{port}',
          variables: { region: { default: 'eu', enum: ['eu', 'us'] }, port: { default: 443 } },
        },
      ],
      security: [{ a: [] }],
    },
  )
  const { operations } = await loadDocument(document)
  expect(operations.map(({ servers }) => servers.map(({ url }) => url))).toEqual([
    ['https://{region}.example:{port}'],
    ['https://path'],
    ['/v2'],
  ])
  expect([...(operations[0]?.servers[0]?.variables ?? [])]).toEqual([
    ['region', { default: 'eu', enum: ['eu', 'us'] }],
    ['port', { default: '443', enum: undefined }],
  ])
  expect(operations.map(({ security }) => security)).toEqual([
    [[{ scheme: 'a', scopes: [] }]],
    [],
    [
      [
        { scheme: 'a', scopes: ['x'] },
        { scheme: 'b', scopes: [] },
      ],
      [{ scheme: 'unknown', scopes: [] }],
      [],
    ],
  ])
})

test('leaves out an operation whose security cannot be read, instead of calling it without a credential', async () => {
  const { operations, problems } = await loadDocument(api({ '/a': { get: { security: 'key' } }, '/b': { get: {} } }))
  expect(operations.map(({ path }) => path)).toEqual(['/b'])
  expect(problems).toEqual(['GET /a is left out: "security" must be a list of at most 100 requirements.'])
})

test('leaves out the operations that need something outside of the document, and keeps the others', async () => {
  const { operations, problems } = await loadDocument(
    api(
      {
        '/a': { get: { parameters: [{ $ref: 'https://user:pw@127.0.0.1:1/p.json?key=secret#/x' }] } },
        '/b': { $ref: './b.yaml' },
        '/c': {
          post: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } } },
        },
        '/d': { get: { responses: { 200: { content: { 'application/json': { schema: { $ref: 'd.json' } } } } } } },
        '/e': { get: { parameters: [{ $ref: '#/paths/~1e/get/parameters/0' }] } },
        '/f': { get: { parameters: [{ $ref: '#/constructor' }] } },
      },
      { components: { schemas: { A: { properties: { b: { $ref: 'file:///etc/passwd' } } } } } },
    ),
  )
  expect(operations.map(({ path, responseSchema }) => [path, responseSchema])).toEqual([['/d', undefined]])
  expect(problems).toHaveLength(5)
  expect(problems.join(' ')).not.toMatch(/secret|pw@/)
})

test('splits the query of a path into parameters, and drops a fragment', async () => {
  const { operations, problems } = await loadDocument(
    api({
      '/search?type=user&text={text}': { get: {} },
      '/#Action=List': { get: {} },
      '/send/#env/v1/{id}': { post: {} },
    }),
  )
  expect(operations.map(({ path, name }) => [path, name])).toEqual([
    ['/search', 'get_search_type_user_text_text'],
    ['/', 'get_action_list'],
  ])
  expect(operations[0]?.argumentsSchema).toMatchObject({
    properties: { type: { const: 'user' }, text: { type: 'string' } },
    required: ['type', 'text'],
  })
  expect(problems).toEqual([expect.stringContaining('POST /send/#env/v1/{id} is left out')])
})
