import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { accepts, api, loadOne } from './document.test-kit.ts'

const load = (content: JsonObject, rest: JsonObject = {}) =>
  loadOne(api({ '/pets': { post: { requestBody: { description: 'The pet.', content, ...rest } } } }, rest))

test.each([
  [
    [
      'application/xml',
      'image/png',
      'text/plain',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      'application/json',
    ],
    'json',
    'application/json',
  ],
  [['text/plain', 'application/vnd.api+json; charset=utf-8'], 'json', 'application/vnd.api+json; charset=utf-8'],
  [['*/*'], 'json', 'application/json'],
  [
    ['text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded'],
    'form',
    'application/x-www-form-urlencoded',
  ],
  [['image/png', 'text/csv', 'multipart/form-data'], 'multipart', 'multipart/form-data'],
  [['application/octet-stream', 'text/csv'], 'text', 'text/csv'],
  [['application/xml', 'image/*'], 'binary', 'image/*'],
  [['application/xml'], 'text', 'application/xml'],
])('of %j, sends %s', async (types, kind, contentType) => {
  const { body } = await load(Object.fromEntries(types.map((type) => [type, {}])))
  expect(body).toMatchObject({ kind, contentType, isRequired: false })
})

test('has no body if the document offers no media type', async () => {
  expect((await load({})).body).toBeUndefined()
  expect((await load({ nonsense: {} })).body).toBeUndefined()
})

test('a binary body is the filename of an artifact, and XML is a text', async () => {
  const binary = await load({ 'image/png': { schema: { type: 'string', format: 'binary' } } })
  expect(binary.argumentsSchema.properties).toEqual({
    body: { type: 'string', description: 'The pet. The filename of an artifact, whose content is sent.' },
  })
  const xml = await load({ 'application/xml': { schema: { type: 'object' } } })
  expect(accepts(xml, { body: '<pet/>' })).toBe(true)
  expect(accepts(xml, { body: {} })).toBe(false)
  const text = await load({ 'text/plain': { schema: { type: 'string', enum: ['a'] } } })
  expect(accepts(text, { body: 'b' })).toBe(false)
})

test('files of a multipart body are filenames of artifacts, also through references', async () => {
  const components = {
    schemas: {
      Upload: {
        type: 'object',
        required: ['photo'],
        properties: {
          photo: { $ref: '#/components/schemas/Photo' },
          pages: { type: 'array', description: 'Pages', items: { contentMediaType: 'application/pdf' } },
          scan: { contentMediaType: 'image/png', contentEncoding: 'base64' },
          mark: {},
          note: { contentMediaType: 'application/json', type: 'string' },
          nested: { $ref: '#/components/schemas/Nested' },
        },
      },
      Nested: { type: 'object', properties: { data: { type: 'string', format: 'binary', maxLength: 1 } } },
      Photo: { type: 'string', format: 'binary', description: 'A photo', minLength: 1_000 },
    },
  }
  const encoding = { mark: { contentType: 'image/png' }, nested: { contentType: 'application/json' } }
  const operation = await load(
    { 'multipart/form-data': { schema: { allOf: [{ $ref: '#/components/schemas/Upload' }] } } },
    { components },
  )
  expect([...(operation.body?.fileProperties ?? [])]).toEqual(['photo', 'pages', 'scan'])
  expect(accepts(operation, { body: { photo: 'cat.png', pages: ['a.pdf'], nested: { data: 'x' } } })).toBe(true)
  expect(accepts(operation, { body: { photo: 5 } })).toBe(false)
  expect(accepts(operation, { body: { photo: 'cat.png', nested: { data: 'a name' } } })).toBe(false)
  expect(accepts(operation, { body: {} })).toBe(false)
  expect(JSON.stringify(operation.argumentsSchema)).toContain('whose content is sent. A photo')

  const encoded = await load(
    { 'multipart/form-data': { schema: { $ref: '#/components/schemas/Upload' }, encoding } },
    { components },
  )
  expect([...(encoded.body?.fileProperties ?? [])]).toEqual(['photo', 'pages', 'scan', 'mark'])
  expect(accepts(encoded, { body: { photo: 'a', mark: 5 } })).toBe(false)
  expect(encoded.body?.encoding.get('nested')).toEqual({
    contentType: 'application/json',
    style: undefined,
    explode: true,
    allowReserved: false,
  })
})

test('a component that is sent as JSON and as multipart has files only in the form', async () => {
  const components = {
    schemas: { Pet: { type: 'object', properties: { photo: { type: 'string', format: 'binary', maxLength: 2 } } } },
  }
  const schema = { $ref: '#/components/schemas/Pet' }
  const [json, form] = [
    await load({ 'application/json': { schema } }, { components }),
    await load({ 'multipart/form-data': { schema } }, { components }),
  ]
  expect(accepts(json, { body: { photo: 'long' } })).toBe(false)
  expect(accepts(form, { body: { photo: 'long' } })).toBe(true)
})

test('a form with files is sent as multipart if the document offers both', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string', format: 'binary' } } }
  const both = await load({ 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } })
  expect(both.body).toMatchObject({ kind: 'multipart', fileProperties: new Set(['a']) })
})

test('reads how the properties of a form are encoded', async () => {
  const { body } = await load({
    'application/x-www-form-urlencoded': {
      schema: { type: 'object' },
      encoding: { a: { style: 'deepObject' }, b: { style: 'form', explode: false, allowReserved: true }, c: 5 },
    },
  })
  expect([...(body?.encoding ?? [])]).toEqual([
    ['a', { contentType: undefined, style: 'deepObject', explode: false, allowReserved: false }],
    ['b', { contentType: undefined, style: 'form', explode: false, allowReserved: true }],
  ])
})
