// Requests of documents of our own. openapi-backend reads neither Swagger 2 nor OpenAPI 3.2: another implementation,
// @scalar/openapi-parser, translates Swagger 2, and OpenAPI 3.2 stands beside the same API in OpenAPI 3.1.
import { upgrade } from '@scalar/openapi-parser'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import { accepts, api, loadOne, swagger } from './document/document.test-kit.ts'
import type { Place } from './document/real-documents.test-kit.ts'
import { type ApiRequest, buildRequest } from './request/build-request.ts'
import { findRequestProblems } from './request-validator.test-kit.ts'

const BASE = new URL('http://127.0.0.1')
const TEXT = { type: 'string' }
const TEXTS = { type: 'array', items: TEXT }

/** The request for an operation of a document with one operation. */
async function requestOf(document: JsonObject, args: JsonObject): Promise<ApiRequest> {
  const operation = await loadOne(document)
  expect(operation.problems).toEqual([])
  expect(accepts(operation, args)).toBe(true)
  const bytes = new TextEncoder().encode('content')
  return await buildRequest(operation, BASE, args, async () => ({ filename: 'a.txt', mimeType: 'text/plain', bytes }))
}

/** What the other implementations say about a request of Swagger 2. */
async function findSwaggerProblems(document: JsonObject, place: Place, request: ApiRequest): Promise<string[]> {
  const { specification } = upgrade(structuredClone(document))
  return await findRequestProblems(specification as JsonObject, place, request)
}

const place = { method: 'POST', path: '/pets/{id}' } as const

function swaggerPost(parameters: readonly object[], consumes: readonly string[]): JsonObject {
  const id = { name: 'id', in: 'path', required: true, type: 'integer' }
  return swagger({ [place.path]: { post: { consumes, parameters: [id, ...parameters], responses: {} } } })
}

test('a request of Swagger 2 with every collectionFormat is valid', async () => {
  const list = (name: string, more: object): object => ({ name, in: 'query', required: true, ...TEXTS, ...more })
  const document = swaggerPost(
    [
      list('usual', {}),
      list('csv', { collectionFormat: 'csv' }),
      list('ssv', { collectionFormat: 'ssv' }),
      list('pipes', { collectionFormat: 'pipes' }),
      list('multi', { collectionFormat: 'multi' }),
    ],
    [],
  )
  const two = ['a', 'b']
  const request = await requestOf(document, { id: 1, usual: two, csv: two, ssv: two, pipes: two, multi: two })
  expect(new URL(request.url).search).toBe('?usual=a,b&csv=a,b&ssv=a%20b&pipes=a%7Cb&multi=a&multi=b')
  expect(await findSwaggerProblems(document, place, request)).toEqual([])
  const changed = { ...request, url: request.url.replace('multi=a&multi=b', 'other=a') }
  expect(await findSwaggerProblems(document, place, changed)).not.toEqual([])
})

test.each([
  ['application/x-www-form-urlencoded', 'name=Rex+%26+co&age=3&tags=a&tags=b'],
  ['multipart/form-data', undefined],
])('a form of Swagger 2 as %s is valid', async (contentType, text) => {
  const field = (name: string, schema: object): object => ({ name, in: 'formData', required: true, ...schema })
  const document = swaggerPost(
    [field('name', TEXT), field('age', { type: 'integer' }), field('tags', { ...TEXTS, collectionFormat: 'multi' })],
    [contentType],
  )
  const request = await requestOf(document, { id: 1, name: 'Rex & co', age: 3, tags: ['a', 'b'] })
  expect(request.headers.get('content-type')).toContain(contentType)
  if (text)
    expect([...new URLSearchParams(new TextDecoder().decode(request.body))]).toEqual([...new URLSearchParams(text)])
  expect(await findSwaggerProblems(document, place, request)).toEqual([])
  const withoutAge = await requestOf(swaggerPost([field('name', TEXT)], [contentType]), {
    id: 1,
    name: 'Rex',
  })
  expect(await findSwaggerProblems(document, place, withoutAge)).not.toEqual([])
})

test('a file and a body of Swagger 2 are valid', async () => {
  const file = swaggerPost([{ name: 'photo', in: 'formData', type: 'file' }], ['multipart/form-data'])
  const upload = await requestOf(file, { id: 1, photo: 'a.txt' })
  expect(await findSwaggerProblems(file, place, upload)).toEqual([])
  const form = await new Response(upload.body ?? null, { headers: upload.headers }).formData()
  expect(await (form.get('photo') as File).text()).toBe('content')

  const schema = { type: 'object', required: ['name'], properties: { name: TEXT } }
  const json = swaggerPost([{ name: 'pet', in: 'body', required: true, schema }], ['application/json'])
  const request = await requestOf(json, { id: 1, name: 'Rex' })
  expect(await findSwaggerProblems(json, place, request)).toEqual([])
  const changed = { ...request, body: new TextEncoder().encode('{}') }
  expect(await findSwaggerProblems(json, place, changed)).not.toEqual([])
})

test('a form of OpenAPI 3 with lists and objects is valid', async () => {
  const two = { type: 'array', items: { type: 'integer' }, minItems: 2 }
  const card = { type: 'object', required: ['number'], properties: { number: TEXT, limits: two } }
  const schema = { type: 'object', required: ['ids', 'listed', 'card'], properties: { ids: two, listed: two, card } }
  const encoding = { listed: { style: 'form', explode: true }, card: { style: 'deepObject', explode: true } }
  const content = { 'application/x-www-form-urlencoded': { schema, encoding } }
  const document = api({ '/pets': { post: { requestBody: { required: true, content } } } })
  const body = { ids: [1, 2], listed: [3, 4], card: { number: '5', limits: [6, 7] } }
  const request = await requestOf(document, body)
  expect(await findRequestProblems(document, { method: 'POST', path: '/pets' }, request)).toEqual([])
})

const members = { text: TEXT, tags: TEXTS, limit: { type: 'integer' } }

test('the querystring of OpenAPI 3.2 is valid as single parameters of OpenAPI 3.1', async () => {
  const content = { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: members } } }
  const parameters = [{ name: 'all', in: 'querystring', required: true, content }]
  const document = { ...api({ '/pets': { get: { parameters } } }), openapi: '3.2.0' }
  const request = await requestOf(document, { all: { text: 'a&b=c d', tags: ['x', 'y,z'], limit: 5 } })
  const single = Object.entries(members).map(([name, schema]) => ({ name, in: 'query', required: true, schema }))
  const same = api({ '/pets': { get: { parameters: single } } })
  expect(await findRequestProblems(same, { method: 'GET', path: '/pets' }, request)).toEqual([])
  expect([...new URL(request.url).searchParams]).toEqual([
    ['text', 'a&b=c d'],
    ['tags', 'x'],
    ['tags', 'y,z'],
    ['limit', '5'],
  ])
})

test('a querystring of OpenAPI 3.2 in JSON is one encoded text', async () => {
  const content = { 'application/json': { schema: { type: 'object', properties: members } } }
  const parameters = [{ name: 'all', in: 'querystring', required: true, content }]
  const document = { ...api({ '/pets': { get: { parameters } } }), openapi: '3.2.0' }
  const all = { text: 'a&b=c d', tags: ['x'] }
  const { url } = await requestOf(document, { all })
  expect(JSON.parse(decodeURIComponent(new URL(url).search.slice(1)))).toEqual(all)
})

test('the method QUERY of OpenAPI 3.2 is valid as POST of OpenAPI 3.1', async () => {
  const schema = { type: 'object', required: ['text'], properties: members }
  const operation = {
    parameters: [{ name: 'X-Trace', in: 'header', required: true, schema: TEXT }],
    requestBody: { required: true, content: { 'application/json': { schema } } },
  }
  const document = { ...api({ '/pets': { query: operation } }), openapi: '3.2.0' }
  const request = await requestOf(document, { 'X-Trace': '1', text: 'a', tags: ['x'] })
  expect(request.method).toBe('QUERY')
  const same = api({ '/pets': { post: operation } })
  const post = { method: 'POST', path: '/pets' }
  expect(await findRequestProblems(same, post, { ...request, method: 'POST' })).toEqual([])
  const changed = { ...request, method: 'POST', body: new TextEncoder().encode('{"tags":"x"}') }
  expect(await findRequestProblems(same, post, changed)).not.toEqual([])
})
