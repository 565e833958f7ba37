// Requests for a sample of the operations of every real document, checked by openapi-backend against the document.
import { describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../core/base/json.ts'
import { api } from './document/document.test-kit.ts'
import { loadDocument } from './document/load-document.ts'
import { DOCUMENTS, listOperations, type Place, readDocument } from './document/real-documents.test-kit.ts'
import { acceptedArguments } from './example-arguments.test-kit.ts'
import { withoutManagedParts } from './managed-parts.ts'
import type { ApiOperation } from './operation.ts'
import { type ApiRequest, buildRequest } from './request/build-request.ts'
import { findRequestProblems } from './request-validator.test-kit.ts'

// The machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const BASE = new URL('http://127.0.0.1')
const SAMPLE = 5
const CANDIDATES = 40

/** OpenAPI does not define objects in an array of style form. openapi-backend takes `Tags={"Key":"x"}` as a text. */
const OBJECT_IN_LIST = /\/query\/\w+\/0 must be object/

/** Where openapi-backend is wrong: what it says of valid requests, by document. */
const WRONG: ReadonlyMap<string, RegExp> = new Map([
  ['amazonaws.com/ec2', OBJECT_IN_LIST],
  ['amazonaws.com/iam', OBJECT_IN_LIST],
  ['amazonaws.com/sqs', OBJECT_IN_LIST],
  // It does not split the list in a header, which has the style simple.
  ['amazonaws.com/s3', /\/header\/x-amz-optional-object-attributes must be array/],
])

const loadFile = async () => ({ filename: 'a.txt', mimeType: 'text/plain', bytes: new TextEncoder().encode('text') })

test.each(DOCUMENTS)('requests for a sample of %s are valid', async (name) => {
  const document: JsonObject = JSON.parse(readDocument(name))
  const { operations, problems } = await loadDocument(document)
  const places = listOperations(document, problems)
  const failures: string[] = []
  let checked = 0
  for (const [at, operation] of orderByNovelty(operations)) {
    const args = await acceptedArguments(operation)
    if (!args) continue
    const request = await buildRequest(operation, BASE, args, loadFile)
    const found = await findRequestProblems(document, places[at] as Place, request)
    failures.push(...found.map((problem) => `${operation.method} ${operation.path}: ${problem}`))
    if (++checked === SAMPLE) break
  }
  const wrong = WRONG.get(name)
  expect(failures.filter((failure) => !wrong?.test(failure))).toEqual([])
  expect(failures.some((failure) => wrong?.test(failure))).toBe(wrong !== undefined)
  expect(checked).toBe(Math.min(SAMPLE, operations.length))
})

test('there are at least 60 documents', () => {
  expect(new Set(DOCUMENTS).size).toBeGreaterThanOrEqual(60)
})

describe('the check finds', () => {
  const place: Place = { method: 'POST', path: '/users/{user}/pets' }
  const document = api({
    [place.path]: {
      post: {
        parameters: [
          { name: 'user', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'sort', in: 'query', required: true, schema: { type: 'array', items: { enum: ['a', 'b'] } } },
          { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': { schema: { type: 'object', properties: { age: { type: 'integer' } } } },
            'application/x-www-form-urlencoded': { schema: { type: 'object', required: ['age'] } },
          },
        },
      },
    },
  })
  const valid: ApiRequest = {
    method: 'POST',
    url: 'http://127.0.0.1/users/7/pets?sort=a&sort=b',
    headers: new Headers({ 'content-type': 'application/json', 'x-trace': '1' }),
    body: new TextEncoder().encode('{"age":1}'),
  }

  test('nothing in a valid request', async () => {
    expect(await findRequestProblems(document, place, valid)).toEqual([])
  })

  const json = { 'content-type': 'application/json', 'x-trace': '1' }
  test.each<[string, Partial<ApiRequest>]>([
    ['another path', { url: 'http://127.0.0.1/users/7/pet?sort=a' }],
    ['a wrong value in the path', { url: 'http://127.0.0.1/users/x/pets?sort=a' }],
    ['a missing query', { url: 'http://127.0.0.1/users/7/pets' }],
    ['a list in another style', { url: 'http://127.0.0.1/users/7/pets?sort=a,b' }],
    ['an unknown parameter', { url: 'http://127.0.0.1/users/7/pets?sort=a&x=1' }],
    ['a missing header', { headers: new Headers({ 'content-type': 'application/json' }) }],
    ['another media type', { headers: new Headers({ ...json, 'content-type': 'text/plain' }) }],
    ['a wrong body', { body: new TextEncoder().encode('{"age":"1"}') }],
    ['a missing body', { body: undefined }],
    ['a wrong form', { headers: new Headers({ ...json, 'content-type': 'application/x-www-form-urlencoded' }) }],
  ])('%s', async (_, change) => {
    expect(await findRequestProblems(document, place, { ...valid, ...change })).not.toEqual([])
  })
})

/** Operations spread over the document with their place in it, those first that have what the ones before do not have. */
function orderByNovelty(operations: readonly ApiOperation[]): [at: number, operation: ApiOperation][] {
  const step = Math.ceil(operations.length / CANDIDATES)
  const left = [...operations.entries()]
    .filter(([at]) => at % step === 0)
    .map(([at, operation]): [number, ApiOperation] => [at, withoutManagedParts(operation, undefined)])
  const ordered: typeof left = []
  const seen = new Set<string>()
  while (left.length > 0) {
    const counts = left.map(([, operation]) => kindsOf(operation).filter((kind) => !seen.has(kind)).length)
    const [next] = left.splice(counts.indexOf(Math.max(...counts)), 1) as typeof left
    if (!next) break
    ordered.push(next)
    for (const kind of kindsOf(next[1])) seen.add(kind)
  }
  return ordered
}

/** What makes the request of an operation different from others. */
function kindsOf({ method, parameters, body }: ApiOperation): string[] {
  const places = parameters.map(({ in: place, style, explode, contentType }) => [place, style, explode, contentType])
  const encodings = [...(body?.encoding.values() ?? [])].map(({ style, explode }) => [body?.kind, style, explode])
  return [[method], [body?.kind], ...places, ...encodings].map(String)
}
