import { expect, test } from 'vitest'
import { accepts, api, loadOne } from './document.test-kit.ts'

const load = (parameters: unknown[], path = '/pets') => loadOne(api({ [path]: { get: { parameters } } }))

test.each([
  ['query', 'form', true],
  ['cookie', 'form', true],
  ['path', 'simple', false],
  ['header', 'simple', false],
])('a parameter in %s has the style %s', async (place, style, explode) => {
  const { parameters } = await load([{ name: 'x', in: place, schema: {} }], '/{x}')
  expect(parameters.find((one) => one.in === place)).toMatchObject({ style, explode, allowReserved: false })
})

test('reads style, explode, allowReserved and content', async () => {
  const { parameters } = await load([
    { name: 'a', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object' } },
    { name: 'b', in: 'query', style: 'pipeDelimited', schema: { type: 'array' }, allowReserved: true },
    { name: 'c', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
    { name: 'd', in: 'query', style: 'matrix', explode: false, schema: {} },
  ])
  expect(parameters).toMatchObject([
    { style: 'deepObject', explode: true },
    { style: 'pipeDelimited', explode: false, allowReserved: true },
    { style: 'form', contentType: 'application/json' },
    { style: 'form', explode: false },
  ])
})

test.each([
  'Accept',
  'content-type',
  'AUTHORIZATION',
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'Cookie',
  'Connection',
  'X\r\nY',
])('leaves out the header parameter %j', async (name) => {
  const { parameters, argumentsSchema, problems } = await load([
    { name, in: 'header', required: true, schema: {} },
    { name: 'X-Trace', in: 'header', schema: {} },
  ])
  expect(parameters.map((one) => one.name)).toEqual(['X-Trace'])
  expect(argumentsSchema.required).toBeUndefined()
  expect(problems).toEqual([expect.stringContaining(`the header parameter ${JSON.stringify(name)} is left out`)])
})

test('a path parameter is required, and exists if the path has it', async () => {
  const operation = await load(
    [
      { name: 'a', in: 'path', schema: { type: 'integer' } },
      { name: 'b', in: 'path', schema: {} },
    ],
    '/{a}/{c}',
  )
  expect(operation.argumentsSchema).toMatchObject({
    properties: { a: { type: 'integer' }, c: { type: 'string' } },
    required: ['a', 'c'],
  })
  expect(operation.problems).toHaveLength(2)
})

test('the description of a parameter reaches the model, and only known arguments are accepted', async () => {
  const operation = await load([
    { name: 'a', in: 'query', description: 'Page.', schema: { type: 'integer', default: 1 } },
    { name: 'b', in: 'query', schema: { type: 'string', description: 'Of the schema' } },
    { name: 'filter[x]', in: 'query', description: 'Filter', schema: true },
  ])
  expect(operation.argumentsSchema.properties).toEqual({
    a: { type: 'integer', description: 'Page. Default: 1.' },
    b: { type: 'string', description: 'Of the schema' },
    filter_x: { description: 'Filter' },
  })
  expect(accepts(operation, { a: 1, filter_x: {} })).toBe(true)
  expect(accepts(operation, { other: 1 })).toBe(false)
})

test('names that clash between locations and with the body are told apart', async () => {
  const parameters = [
    { name: 'id', in: 'path', schema: {} },
    { name: 'id', in: 'query', schema: {} },
    { name: 'body', in: 'query', schema: {} },
  ]
  const operation = await loadOne(
    api({ '/{id}': { put: { parameters, requestBody: { content: { 'application/json': { schema: {} } } } } } }),
  )
  expect(operation.parameters.map(({ argument, name }) => [argument, name])).toEqual([
    ['id_path', 'id'],
    ['id_query', 'id'],
    ['body_query', 'body'],
  ])
  expect(Object.keys(operation.argumentsSchema.properties as object)).toEqual([
    'id_path',
    'id_query',
    'body_query',
    'body',
  ])
})

test.each([
  ['a place that does not exist', [{ name: 'a', in: 'body', schema: {} }]],
  ['no name', [{ in: 'query' }]],
  ['no place', [{ name: 'a' }]],
  ['a wrong type', [5]],
  ['too many', Array.from({ length: 501 }, (_, i) => ({ name: `p${i}`, in: 'query' }))],
])('an operation with parameters with %s is left out', async (_, parameters) => {
  await expect(load(parameters)).rejects.toThrow('GET /pets is left out')
})
