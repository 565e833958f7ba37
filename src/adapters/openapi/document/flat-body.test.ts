// A body whose fields are arguments of their own, and those that stay the argument `body`.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { ToolDispatcher } from '../../../engine/runner/single-call/tool-dispatcher.ts'
import { documentOf, startApi } from '../api-server.test-kit.ts'
import { OpenApiToolset } from '../openapi-toolset.ts'
import { api, loadBody, loadOne } from './document.test-kit.ts'

const TEXT = { type: 'string' }
const PET = { type: 'object', required: ['name'], properties: { name: TEXT, tag: TEXT } }
const parameter = (name: string, place: string): JsonObject => ({ name, in: place, required: true, schema: TEXT })

const argumentsOf = ({ argumentsSchema }: { readonly argumentsSchema: JsonObject }): string[] =>
  Object.keys(argumentsSchema.properties as JsonObject)

/** Loads PUT /pets/{id} with this body and these further parameters. */
function loadPut(schema: JsonObject, more: { parameters?: readonly JsonObject[]; body?: JsonObject } = {}) {
  const requestBody = { required: true, content: { 'application/json': { schema } }, ...more.body }
  const put = { parameters: [parameter('id', 'path'), ...(more.parameters ?? [])], requestBody }
  return loadOne(api({ '/pets/{id}': { put } }))
}

describe('the fields of an object body are arguments', () => {
  test('beside the parameters, required ones as required', async () => {
    const operation = await loadPut(PET, { body: { description: 'The pet.' } })
    expect(operation.argumentsSchema).toEqual({
      type: 'object',
      description: 'The pet.',
      properties: { id: TEXT, name: TEXT, tag: TEXT },
      required: ['id', 'name'],
      additionalProperties: false,
    })
    expect(operation.body?.fields).toEqual(['name', 'tag'])
  })

  test('through a reference, also one to a schema that refers to itself', async () => {
    const Node = { type: 'object', required: ['value'], properties: { value: TEXT, next: { $ref: '#/$defs/Node' } } }
    const operation = await loadBody({ $ref: '#/$defs/Node' }, { $defs: { Node } })
    expect(argumentsOf(operation)).toEqual(['value', 'next'])
    expect(Object.keys(operation.argumentsSchema.$defs as JsonObject)).toHaveLength(1)
  })

  test('without read-only ones, and also one that is called body', async () => {
    const properties = { id: { ...TEXT, readOnly: true }, title: TEXT, body: TEXT }
    const operation = await loadBody({ type: 'object', required: ['id', 'body'], properties })
    expect(argumentsOf(operation)).toEqual(['title', 'body'])
    expect(operation.argumentsSchema.required).toEqual(['body'])
  })

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data'])('of %s', async (type) => {
    const post = { requestBody: { required: true, content: { [type]: { schema: PET } } } }
    expect(argumentsOf(await loadOne(api({ '/pets': { post } })))).toEqual(['name', 'tag'])
  })
})

describe('a body stays one argument', () => {
  test.each<[string, JsonObject]>([
    ['with free members', { ...PET, additionalProperties: true }],
    ['with free members of one type', { ...PET, additionalProperties: TEXT }],
    ['with parts', { ...PET, allOf: [{ properties: { age: TEXT } }] }],
    ['with alternatives', { ...PET, oneOf: [{ required: ['name'] }, { required: ['tag'] }] }],
    ['with a smallest number of fields', { ...PET, minProperties: 2 }],
    ['with a condition', { ...PET, if: { required: ['tag'] }, else: false }],
    ['that may be null', { ...PET, type: ['object', 'null'] }],
    ['without fields', { type: 'object' }],
    ['that is a list', { type: 'array', items: PET }],
    ['with a required field that it does not describe', { ...PET, required: ['age'] }],
    ['with the name of a parameter', { ...PET, properties: { ...PET.properties, id: TEXT } }],
    ['with a name that no argument can have', { ...PET, properties: { ...PET.properties, 'a b': TEXT } }],
  ])('%s', async (_, schema) => {
    const operation = await loadPut(schema)
    expect(argumentsOf(operation)).toEqual(['id', 'body'])
    expect(operation.body?.fields).toBeUndefined()
  })

  test('if it is optional and has required fields: both can only be said of one argument', async () => {
    const operation = await loadPut(PET, { body: { required: false } })
    expect(operation.argumentsSchema).toMatchObject({ required: ['id'], properties: { body: PET } })
  })

  test('if a field has the name that a parameter gets because two parameters clash', async () => {
    const schema = { type: 'object', properties: { id_query: TEXT } }
    const operation = await loadPut(schema, { parameters: [parameter('id', 'query')] })
    expect(argumentsOf(operation)).toEqual(['id_path', 'id_query', 'body'])
  })
})

describe('a call', () => {
  const post = (operationId: string, schema: JsonObject, required: boolean): JsonObject => {
    return { operationId, requestBody: { required, content: { 'application/json': { schema } } } }
  }
  const spec = documentOf({
    '/pets': { post: post('add', PET, true) },
    '/any': { post: post('any', { type: 'object', properties: { note: TEXT } }, true) },
    '/maybe': { post: post('maybe', { type: 'object', properties: { note: TEXT } }, false) },
  })

  test('with the fields of the body as arguments creates the pet', async () => {
    await using server = await startApi()
    const dispatcher = new ToolDispatcher().register(new OpenApiToolset({ spec, baseUrl: server.url }))
    expect(await dispatcher.call('add', { name: 'Mira', tag: 'cat' })).toMatchObject({ status: 200 })
    const nested = dispatcher.call('add', { body: { name: 'Mira' } })
    await expect(nested).rejects.toMatchObject({ code: 'INVALID_ARGS', message: expect.stringContaining('name') })
    for (const name of ['any', 'maybe']) await dispatcher.call(name, {})
    await dispatcher.call('maybe', { note: 'x' })
    const sent = server.seen.map(({ url, body, headers }) => [url, String(body), headers['content-type']])
    expect(sent).toEqual([
      ['/pets', '{"name":"Mira","tag":"cat"}', 'application/json'],
      ['/any', '{}', 'application/json'],
      ['/maybe', '', undefined],
      ['/maybe', '{"note":"x"}', 'application/json'],
    ])
  })
})
