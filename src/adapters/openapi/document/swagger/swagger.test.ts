import { expect, test } from 'vitest'
import { accepts, fits, loadOne, swagger } from '../document.test-kit.ts'
import { loadDocument } from '../load-document.ts'

test('reads the parameters of Swagger 2', async () => {
  const operation = await loadOne(
    swagger(
      {
        '/pets/{id}': {
          parameters: [
            {
              name: 'id',
              in: 'path',
              required: true,
              type: 'integer',
              format: 'int64',
              minimum: 1,
              exclusiveMinimum: true,
            },
          ],
          get: {
            operationId: 'listPets',
            parameters: [
              { $ref: '#/parameters/tags' },
              { name: 'multi', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
              { name: 'ssv', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'ssv' },
              { name: 'pipes', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'pipes' },
              { name: 'X-Ids', in: 'header', type: 'array', items: { type: 'string' }, 'x-nullable': true },
            ],
            responses: { 200: { $ref: '#/responses/Pets' } },
          },
        },
      },
      {
        parameters: {
          tags: {
            name: 'tags',
            in: 'query',
            description: 'Tags',
            type: 'array',
            items: { type: 'string', enum: ['a', 'b'] },
          },
        },
        responses: { Pets: { description: 'ok', schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
        definitions: { Pet: { type: 'object', properties: { id: { type: 'integer' } } } },
      },
    ),
  )
  expect(operation.parameters).toMatchObject([
    { name: 'id', in: 'path', style: 'simple' },
    { name: 'tags', style: 'form', explode: false },
    { name: 'multi', style: 'form', explode: true },
    { name: 'ssv', style: 'spaceDelimited' },
    { name: 'pipes', style: 'pipeDelimited' },
    { name: 'X-Ids', in: 'header', style: 'simple', explode: false },
  ])
  expect(accepts(operation, { id: 2, tags: ['a'] })).toBe(true)
  expect(accepts(operation, { id: 1 })).toBe(false)
  expect(accepts(operation, { id: 2, tags: ['c'] })).toBe(false)
  expect(fits(operation.responseSchema, [{ id: 1 }])).toBe(true)
  expect(fits(operation.responseSchema, [{ id: 'x' }])).toBe(false)
})

test('a body parameter is the JSON body, also through references', async () => {
  const operation = await loadOne(
    swagger(
      { '/pets': { post: { parameters: [{ $ref: '#/parameters/pet' }] } } },
      {
        parameters: {
          pet: {
            name: 'pet',
            in: 'body',
            required: true,
            description: 'The pet.',
            schema: { $ref: '#/definitions/Pet' },
          },
        },
        definitions: {
          Pet: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, id: { type: 'integer', readOnly: true } },
          },
        },
      },
    ),
  )
  expect(operation.body).toMatchObject({ kind: 'json', contentType: 'application/json', isRequired: true })
  expect(accepts(operation, { name: 'Rex' })).toBe(true)
  expect(accepts(operation, {})).toBe(false)
  expect(JSON.stringify(operation.argumentsSchema)).not.toContain('"id"')
})

test('form fields are arguments; a file makes it multipart', async () => {
  const post = (parameters: unknown[], consumes?: unknown) =>
    loadOne(swagger({ '/pets': { post: { parameters, consumes } } }))
  const name = { name: 'name', in: 'formData', type: 'string', required: true, description: 'Name' }
  const tags = { name: 'tags', in: 'formData', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' }
  const form = await post([name, tags])
  expect(form.body).toMatchObject({ kind: 'form', isRequired: true })
  expect(form.body?.encoding.get('tags')).toMatchObject({ style: 'form', explode: true })
  expect(accepts(form, { name: 'a', tags: ['b'] })).toBe(true)
  expect(accepts(form, { tags: ['b'] })).toBe(false)
  const upload = await post(
    [name, { name: 'photo', in: 'formData', type: 'file' }],
    ['application/x-www-form-urlencoded'],
  )
  expect(upload.body).toMatchObject({ kind: 'multipart', fileProperties: new Set(['photo']) })
  expect(accepts(upload, { body: { name: 'a', photo: 'cat.png' } })).toBe(true)
})

test('host, basePath and schemes become servers, HTTPS first', async () => {
  const get = { responses: {} }
  const urls = async (rest: object, operation: object = get) => {
    const { servers } = await loadOne(swagger({ '/a': { get: operation } }, { ...rest }))
    return servers.map(({ url }) => url)
  }
  expect(await urls({ host: 'api.example', basePath: '/v1', schemes: ['http', 'https', 'wss'] })).toEqual([
    'https://api.example/v1',
    'http://api.example/v1',
  ])
  expect(await urls({ host: 'api.example', schemes: ['https'] }, { schemes: ['http'] })).toEqual(['http://api.example'])
  expect(await urls({ host: 'api.example', basePath: '/' })).toEqual(['https://api.example'])
  expect(await urls({ basePath: '/v1' })).toEqual(['/v1'])
  expect(await urls({})).toEqual([])
})

test('security definitions become security schemes', async () => {
  const { securitySchemes, operations } = await loadDocument(
    swagger(
      { '/a': { get: {} } },
      {
        security: [{ login: [] }, { token: ['read'] }],
        securityDefinitions: {
          login: { type: 'basic', description: 'Login' },
          key: { type: 'apiKey', in: 'query', name: 'key' },
          token: {
            type: 'oauth2',
            flow: 'accessCode',
            authorizationUrl: 'https://a.example',
            tokenUrl: 'https://t.example',
            scopes: { read: 'Read' },
          },
        },
      },
    ),
  )
  expect(Object.fromEntries(securitySchemes)).toEqual({
    login: { type: 'http', scheme: 'basic', description: 'Login' },
    key: { type: 'apiKey', in: 'query', name: 'key' },
    token: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: 'https://a.example',
          tokenUrl: 'https://t.example',
          scopes: { read: 'Read' },
        },
      },
    },
  })
  expect(operations[0]?.security).toEqual([[{ scheme: 'login', scopes: [] }], [{ scheme: 'token', scopes: ['read'] }]])
})

test('one malformed operation does not take the others away', async () => {
  const { operations, problems } = await loadDocument(
    swagger(
      {
        '/a': { get: null, post: { parameters: [null] } },
        '/b': { get: { parameters: 5 } },
        '/c': { get: { parameters: [{ name: 'x', in: 'query', type: 'array', collectionFormat: 'tsv' }] } },
        '/d': { post: { parameters: [{ name: 'x', in: 'body' }] } },
      },
      { consumes: 'x', produces: 5, definitions: 'x', parameters: null, securityDefinitions: [] },
    ),
  )
  expect(operations.map(({ path }) => path)).toEqual(['/d'])
  expect(problems).toHaveLength(4)
})
