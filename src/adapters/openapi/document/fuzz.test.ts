// OA-10: whatever a document holds, loading ends with operations or with INVALID_CONFIG.

import { expect, test, vi } from 'vitest'
import fc from '../../../core/base/fast-check.test-kit.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { compileSchema } from '../../../core/schema/compile.ts'
import { nameProblem } from '../../../engine/tool/tool.ts'
import { loadDocument } from './load-document.ts'

// The machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const SCHEMA = {
  type: 'object',
  title: 'Pet',
  description: 'A pet',
  required: ['name'],
  minProperties: 0,
  discriminator: { propertyName: 'kind', mapping: { a: '#/components/schemas/Pet' } },
  oneOf: [{ $ref: '#/components/schemas/Name' }, { type: 'object' }],
  allOf: [{ not: { type: 'null' } }],
  properties: {
    name: { type: 'string', pattern: '^a', minLength: 1, nullable: true, default: 'a' },
    age: { type: 'integer', minimum: 0, exclusiveMinimum: true, readOnly: true },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, prefixItems: [{ const: 1 }] },
    parent: { $ref: '#/components/schemas/Pet' },
  },
  patternProperties: { '^x': true },
  dependentRequired: { a: ['b'] },
  dependencies: { a: ['b'], c: { type: 'object' } },
  if: { type: 'object' },
  additionalProperties: false,
}

const OPENAPI = {
  openapi: '3.2.0',
  info: { title: 'Pets' },
  servers: [{ url: 'https://{a}', variables: { a: { default: 'b', enum: ['b'] } } }],
  security: [{ key: ['a'] }],
  paths: {
    '/pets/{id}': {
      parameters: [{ $ref: '#/components/parameters/id' }],
      additionalOperations: { COPY: { operationId: 'copy' } },
      post: {
        operationId: 'addPet',
        summary: 'Add',
        tags: ['a'],
        parameters: [
          { name: 'q', in: 'query', style: 'form', explode: true, content: { 'application/json': { schema: {} } } },
        ],
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: { $ref: '#/components/schemas/Pet' },
              encoding: { name: { contentType: 'image/png', style: 'form' } },
            },
          },
        },
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } } },
      },
    },
    '/other': { $ref: '#/components/pathItems/other' },
  },
  components: {
    pathItems: {
      other: {
        put: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } } },
      },
    },
    parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    schemas: { Pet: SCHEMA, Name: { type: 'string' } },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X' } },
  },
}

const SWAGGER = {
  swagger: '2.0',
  info: { title: 'Pets' },
  host: 'api.example',
  basePath: '/v1',
  schemes: ['https'],
  consumes: ['application/json'],
  produces: ['application/json'],
  security: [{ key: [] }],
  paths: {
    '/pets/{id}': {
      parameters: [
        { name: 'id', in: 'path', required: true, type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
      ],
      post: {
        parameters: [{ $ref: '#/parameters/body' }],
        responses: { 200: { schema: { $ref: '#/definitions/Pet' } } },
      },
      put: {
        parameters: [{ name: 'file', in: 'formData', type: 'file', required: true }],
        consumes: ['multipart/form-data'],
      },
    },
  },
  parameters: { body: { name: 'pet', in: 'body', schema: { $ref: '#/definitions/Pet' } } },
  definitions: JSON.parse(
    JSON.stringify({ Pet: SCHEMA, Name: { type: 'string' } }).replaceAll('components/schemas', 'definitions'),
  ),
  securityDefinitions: { key: { type: 'oauth2', flow: 'accessCode', scopes: {} } },
}

const strange = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e308,
    '',
    'x',
    '#',
    '#/',
    '#/paths',
    '#/components/schemas/Pet',
    '__proto__',
    [],
    {},
    [null],
    [[]],
    ['a', 'a'],
  ),
  fc.constantFrom<unknown>(
    { $ref: '#' },
    { $ref: '#/components/schemas/Pet' },
    { $ref: 5 },
    { $ref: 'http://127.0.0.1:1/' },
    { type: 'file' },
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

async function expectSafe(document: unknown): Promise<void> {
  const text = JSON.stringify(document)
  let loaded: Awaited<ReturnType<typeof loadDocument>>
  try {
    loaded = await loadDocument(document)
  } catch (error) {
    expect(error).toMatchObject({ name: 'ToolwrightError', code: 'INVALID_CONFIG' })
    return
  }
  expect(JSON.stringify(document)).toBe(text)
  for (const { name, argumentsSchema, responseSchema } of loaded.operations) {
    expect(nameProblem(name)).toBeUndefined()
    compileSchema(argumentsSchema, name, { object: true })
    if (responseSchema) compileSchema(responseSchema, name)
  }
}

test.each([
  ['OpenAPI', OPENAPI],
  ['Swagger', SWAGGER],
])('%s documents with every position replaced by a wrong value', async (_, document) => {
  const wrong = [null, 5, '', [], {}, [null], { a: null }, { $ref: '#' }, { $ref: '#/paths' }]
  for (const path of pathsOf(document)) for (const value of wrong) await expectSafe(replaceAt(document, path, value))
})

test.each([
  ['OpenAPI', OPENAPI],
  ['Swagger', SWAGGER],
])('%s documents with several strange values', async (_, document) => {
  const paths = pathsOf(document)
  const changes = fc.array(fc.tuple(fc.constantFrom(...paths), strange), { minLength: 1, maxLength: 5 })
  const change = (list: [string[], unknown][]): unknown =>
    list.reduce<unknown>((changed, [path, value]) => replaceAt(changed, path, value), document)
  await fc.assert(
    fc.asyncProperty(changes, (list) => expectSafe(change(list))),
    { numRuns: 500 },
  )
})

test('any value', async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (value) => {
      await expect(loadDocument(value)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    }),
  )
})

test('any schema', async () => {
  const document = (schema: unknown): JsonObject => ({
    openapi: '3.1.0',
    paths: { '/a': { post: { requestBody: { content: { 'application/json': { schema } } } } } },
  })
  const keyword = fc.constantFrom(
    ...Object.keys(SCHEMA),
    '$ref',
    '$defs',
    'type',
    'enum',
    'items',
    'format',
    'pattern',
    'nullable',
    'then',
    'else',
    'contains',
  )
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      strange,
      fc.dictionary(
        keyword,
        fc.oneof(
          strange,
          tie('schema'),
          fc.dictionary(fc.string(), tie('schema'), { maxKeys: 3 }),
          fc.array(tie('schema'), { maxLength: 3 }),
        ),
        { maxKeys: 5 },
      ),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(schema, (one) => expectSafe(document(one))),
    { numRuns: 1_000 },
  )
})

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, part]) => pathsOf(part, [...path, key]))]
}

function replaceAt(value: unknown, path: readonly string[], replacement: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return replacement
  if (!isRecord(value) && !Array.isArray(value)) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as JsonObject
  if (Object.hasOwn(copy, key)) copy[key] = replaceAt(copy[key], rest, replacement)
  return copy
}
