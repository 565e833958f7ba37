// OA-10: random operations and hostile arguments. A request is refused with INVALID_ARGS, or leads to its operation.

import { expect, test } from 'vitest'
import fc from '../../core/base/fast-check.test-kit.ts'
import { ToolError } from '../../core/error/error.ts'
import { bodyOf, operationOf, parameterOf } from './operation.test-kit.ts'
import type { ApiOperation, ApiParameter } from './operation.ts'
import { buildBody } from './request/build-body.ts'
import { isReservedHeader } from './request/build-headers.ts'
import { buildTarget } from './request/build-request.ts'

const BASE = new URL('https://api.example.com/v1')
const RUNS = 100_000

const hostile = fc.constantFrom(
  ...[
    '..',
    '.',
    '../x',
    '%2e%2e',
    '..%2f',
    '%252e',
    '..;',
    '/',
    '\\',
    '?x=1',
    '#f',
    '&a=b',
    '=',
    ';v',
    '\0',
    '\r\nX: 1',
  ],
  ...[
    '//evil.example',
    'https://evil.example',
    '@evil.example',
    ':443',
    '%',
    '%zz',
    '{id}',
    '',
    ' ',
    '猫',
    '\ud800',
    '[',
    '+',
    '..%5c',
  ],
)
const text = fc.oneof(
  hostile,
  fc.string({ maxLength: 6 }),
  fc.array(hostile, { maxLength: 3 }).map((parts) => parts.join('')),
)
const scalar = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(text, fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxKeys: 3 }) },
)

const STYLES: { readonly [place in ApiParameter['in']]: readonly ApiParameter['style'][] } = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
  querystring: ['form'],
}
const NAMES = ['id', 'a', 'X-Trace', '__proto__', 'constructor', 'na me', 'Host', 'authorization', 'x[y]']

const parameter = fc
  .tuple(
    fc.constantFrom(...NAMES),
    fc.constantFrom('path', 'query', 'header', 'cookie', 'querystring'),
    fc.nat(),
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([name, place, at, explode, allowReserved, isJson]) => {
    const where = place as ApiParameter['in']
    const style = STYLES[where][at % STYLES[where].length] as ApiParameter['style']
    const contentType = isJson && at % 3 === 0 ? 'application/json' : undefined
    return parameterOf(name, where, { style, explode, allowReserved, contentType, argument: `${name}${place}` })
  })

const literal = fc.constantFrom('/pets', '/a.b', '/a b', '/v2/x', '/%7Bx%7D', '/ü', '')
const operation = fc
  .tuple(fc.uniqueArray(parameter, { maxLength: 4, selector: ({ argument }) => argument }), literal, fc.boolean())
  .map(([parameters, start, isTight]) => {
    const inPath = parameters.filter(({ in: place }) => place === 'path')
    const path = `${start}${inPath.map(({ name }) => (isTight ? `/x-{${name}}.json` : `/{${name}}`)).join('')}` || '/'
    return operationOf({ path, parameters })
  })

/** The segments that the operation allows: a literal text, or undefined for one with a value. */
function isTemplateMatch(url: URL, { path }: ApiOperation): boolean {
  const wanted = `/v1${path}`.split('/')
  const got = url.pathname.split('/')
  return (
    got.length === wanted.length &&
    wanted.every((segment, at) => segment.includes('{') || new URL(`http://x/${segment}`).pathname.slice(1) === got[at])
  )
}

test(`${RUNS} random operations and arguments: each request leads to its operation, or is refused`, () => {
  let sent = 0
  let refused = 0
  const property = fc.property(operation, fc.array(value, { minLength: 4, maxLength: 4 }), (one, values) => {
    const args = new Map(one.parameters.map(({ argument }, at) => [argument, values[at]]))
    try {
      const { url, headers } = buildTarget(one, BASE, args)
      const target = new URL(url)
      expect(target.origin).toBe('https://api.example.com')
      expect(target.hash).toBe('')
      expect(isTemplateMatch(target, one)).toBe(true)
      for (const [name] of headers)
        if (name !== 'accept' && name !== 'cookie') expect(isReservedHeader(name)).toBe(false)
      expect(headers.get('cookie') ?? '').not.toMatch(/[\r\n\0]/)
      sent++
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'INVALID_ARGS') throw error
      refused++
    }
  })
  fc.assert(property, { numRuns: RUNS })
  expect(sent).toBeGreaterThan(RUNS / 5) // otherwise the test proves little
  expect(refused).toBeGreaterThan(RUNS / 50)
}, 60_000)

test('random parameters of a query arrive as they were sent', () => {
  const plain = fc.oneof(fc.string(), hostile).filter((one) => one.isWellFormed())
  fc.assert(
    fc.property(plain, fc.array(plain, { minLength: 1, maxLength: 4 }), (one, many) => {
      const search = operationOf({ parameters: [parameterOf('q', 'query'), parameterOf('tags', 'query')] })
      const { url } = buildTarget(
        search,
        BASE,
        new Map<string, unknown>([
          ['q', one],
          ['tags', many],
        ]),
      )
      const { searchParams } = new URL(url)
      expect(searchParams.getAll('q')).toEqual([one])
      expect(searchParams.getAll('tags')).toEqual(many)
    }),
    { numRuns: 5_000 },
  )
})

test('random forms and multipart bodies arrive as they were sent', async () => {
  const plain = fc.oneof(fc.string(), hostile).filter((one) => one.isWellFormed())
  const members = fc.dictionary(
    plain.filter((name) => name !== '__proto__'),
    plain,
    { maxKeys: 4 },
  )
  const noFile = () => Promise.reject(new Error('There is no file.'))
  await fc.assert(
    fc.asyncProperty(members, async (body) => {
      const form = await buildBody(bodyOf('form', 'application/x-www-form-urlencoded'), body, noFile)
      expect(Object.fromEntries(new URLSearchParams(new TextDecoder().decode(form?.bytes)))).toEqual({ ...body })
      const parts = await buildBody(bodyOf('multipart', 'multipart/form-data'), body, noFile)
      const headers = { 'content-type': parts?.contentType ?? '' }
      const read = await new Response(parts?.bytes ?? null, { headers }).formData()
      expect([...read.values()].sort()).toEqual(Object.values(body).sort())
    }),
    { numRuns: 500 },
  )
})
