import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import { bodyOf, operationOf, parameterOf } from '../operation.test-kit.ts'
import type { ApiOperation, ApiParameter } from '../operation.ts'
import { assertTarget } from './assert-target.ts'
import { type ApiRequest, buildRequest } from './build-request.ts'

const BASE = new URL('https://api.example.com/v1')
const files = new Map([['cat.png', { filename: 'cat.png', mimeType: 'image/png', bytes: new Uint8Array([1, 2, 255]) }]])

async function loadFile(name: unknown) {
  const found = files.get(String(name))
  if (found) return found
  throw new ToolError('There is no such artifact.', { code: 'INVALID_ARGS' })
}

function build(operation: ApiOperation, args: JsonObject): Promise<ApiRequest> {
  return buildRequest(operation, BASE, args, loadFile)
}

const invalid = expect.objectContaining({ name: 'ToolError', code: 'INVALID_ARGS' })

describe('OA-01: a value of the path stays one segment', () => {
  const pet = operationOf({ path: '/pets/{id}/photos', parameters: [parameterOf('id', 'path')] })

  test.each([
    ['an id', 'p1', 'p1'],
    ['a name with dots', 'a..b.c', 'a..b.c'],
    ['three dots', '...', '...'],
    ['a slash', 'a/b', 'a%2Fb'],
    ['a query', 'a?x=1', 'a%3Fx%3D1'],
    ['a fragment', 'a#f', 'a%23f'],
    ['a backslash', 'a\\b', 'a%5Cb'],
    ['a parameter', 'a;v', 'a%3Bv'],
    ['a percent sign', '100%', '100%25'],
    ['a line break', 'a\r\nb', 'a%0D%0Ab'],
    ['other scripts', '猫', '%E7%8C%AB'],
    ['a number', 7, '7'],
    ['a list', ['a', 'b/c'], 'a,b%2Fc'],
    ['an object', { a: '/' }, 'a,%2F'],
    ['an address', 'https://evil.example', 'https%3A%2F%2Fevil.example'],
  ])('%s is encoded', async (_, id, segment) => {
    expect((await build(pet, { id })).url).toBe(`https://api.example.com/v1/pets/${segment}/photos`)
  })

  const refused = [
    '.',
    '..',
    '../admin',
    '..\\admin',
    'a/../b',
    '..%2f',
    '%2e%2e',
    '%2E.',
    '%252e%252e',
    '%25252e%25252e',
    '%2e%2e%5cadmin',
    '..;v',
    'a/..;x/b',
    '%ff%2e%2e%2f..',
    'a\0b',
    'a%00b',
    '',
    null,
    [],
    {},
    [''],
  ].map((id) => [id] as const)
  test.each(refused)('%j is refused', async (id) => {
    await expect(build(pet, { id })).rejects.toThrow(invalid)
  })

  test('two values that make dots together are refused', async () => {
    const path = '/{a}{b}/x'
    const both = operationOf({ path, parameters: [parameterOf('a', 'path'), parameterOf('b', 'path')] })
    await expect(build(both, { a: '.', b: '.' })).rejects.toThrow(invalid)
    expect((await build(both, { a: '1', b: '2' })).url).toBe('https://api.example.com/v1/12/x')
  })

  test('the guard behind the encoding compares origin, segments and literal parts', () => {
    const target = (url: string) => () => assertTarget(url, BASE, pet)
    expect(target('https://api.example.com/v1/pets/1/photos?x=1')).not.toThrow()
    for (const url of [
      'https://evil.example/v1/pets/1/photos',
      'http://api.example.com/v1/pets/1/photos',
      'https://api.example.com:8443/v1/pets/1/photos',
      'https://user@api.example.com/v1/pets/1/photos',
      'https://api.example.com/v1/pets/../photos',
      'https://api.example.com/v1/pets/%2e%2e/photos',
      'https://api.example.com/v1/pets/1/2/photos',
      'https://api.example.com/v1/pets//photos',
      'https://api.example.com/v1/pets/1/photos/2',
      'https://api.example.com/v1/pets/1/photos#x',
      'https://api.example.com/v2/pets/1/photos',
    ])
      expect(target(url), url).toThrow(invalid)
  })

  test('the styles label and matrix stay in their segment', async () => {
    const styled = (style: ApiParameter['style']) =>
      operationOf({ path: '/a{id}', parameters: [parameterOf('id', 'path', { style })] })
    expect((await build(styled('matrix'), { id: 'x/y' })).url).toBe('https://api.example.com/v1/a;id=x%2Fy')
    expect((await build(styled('label'), { id: 'x/y' })).url).toBe('https://api.example.com/v1/a.x%2Fy')
  })
})

describe('the query', () => {
  const get = (...parameters: ApiParameter[]) => operationOf({ parameters })

  test('has the parameters in the order of the document, without those that are missing', async () => {
    const search = get(parameterOf('q', 'query'), parameterOf('limit', 'query'), parameterOf('tags', 'query'))
    const { url } = await build(search, { tags: ['a', 'b&c=d'], q: 'cats & dogs' })
    expect(url).toBe('https://api.example.com/v1/pets?q=cats%20%26%20dogs&tags=a&tags=b%26c%3Dd')
  })

  test('has JSON for a parameter with content', async () => {
    const filter = get(parameterOf('filter', 'query', { contentType: 'application/json' }))
    const { url } = await build(filter, { filter: { a: [1, null], b: '&' } })
    expect(JSON.parse(new URL(url).searchParams.get('filter') ?? '')).toEqual({ a: [1, null], b: '&' })
  })

  test('cannot be extended by a value that allows reserved characters', async () => {
    const open = get(parameterOf('q', 'query', { allowReserved: true }))
    const { url } = await build(open, { q: 'a/b&admin=true#x' })
    expect([...new URL(url).searchParams]).toEqual([['q', 'a/b&admin=true#x']])
  })

  test('is the whole value of a querystring parameter', async () => {
    const form = get(parameterOf('all', 'querystring', { contentType: 'application/x-www-form-urlencoded' }))
    expect((await build(form, { all: { a: 'x y', b: [1, 2] } })).url).toMatch(/\?a=x%20y&b=1&b=2$/)
    const json = get(parameterOf('all', 'querystring', { contentType: 'application/json' }))
    expect((await build(json, { all: { a: 1 } })).url).toMatch(/\?%7B%22a%22%3A1%7D$/)
  })

  test('keeps the query that some documents have in the path', async () => {
    const list = operationOf({ path: '/?Action=List#Version=1', parameters: [parameterOf('q', 'query')] })
    expect((await build(list, { q: '1' })).url).toBe('https://api.example.com/v1/?Action=List&q=1')
  })

  test('an argument that is missing is named', async () => {
    const needed = get(parameterOf('q', 'query', { isRequired: true }))
    await expect(build(needed, {})).rejects.toThrow('The argument "q" is missing.')
  })
})

describe('OA-03: headers and cookies', () => {
  const withHeader = (name: string) => operationOf({ parameters: [parameterOf(name, 'header')] })

  test('are sent, Latin-1 included', async () => {
    const operation = operationOf({
      parameters: [
        parameterOf('X-Trace', 'header'),
        parameterOf('X-Json', 'header', { contentType: 'application/json' }),
        parameterOf('theme', 'cookie'),
        parameterOf('tags', 'cookie'),
      ],
    })
    const args = { 'X-Trace': 'é1', 'X-Json': { a: '猫' }, theme: 'dark; admin=1', tags: ['a', 'b'] }
    const { headers } = await build(operation, args)
    expect(headers.get('x-trace')).toBe('é1')
    expect(JSON.parse(headers.get('x-json') ?? '')).toEqual({ a: '猫' })
    expect(headers.get('cookie')).toBe('theme=dark%3B%20admin%3D1; tags=a; tags=b')
  })

  test.each(['a\r\nX-Admin: 1', 'a\nb', 'a\0b', '猫', 'a\u007f', '\u{1F600}'])('refuse %j', async (value) => {
    await expect(build(withHeader('X-Trace'), { 'X-Trace': value })).rejects.toThrow(invalid)
    const cookie = operationOf({ parameters: [parameterOf('c', 'cookie')] })
    await expect(build(cookie, { c: value })).rejects.toThrow(invalid)
  })

  test.each([
    'Host',
    'authorization',
    'Content-Length',
    'Transfer-Encoding',
    'Cookie',
    'Connection',
    'Proxy-Authorization',
    'Sec-Fetch-Site',
    'X-HTTP-Method-Override',
    'X-Forwarded-Host',
    'bad name',
  ])('arguments cannot set %s', async (name) => {
    await expect(build(withHeader(name), { [name]: 'x' })).rejects.toThrow(invalid)
    expect((await build(withHeader(name), {})).method).toBe('GET')
  })
})

describe('bodies', () => {
  const post = (body: ApiOperation['body']) => operationOf({ method: 'POST', body })
  const textOf = ({ body }: ApiRequest): string => new TextDecoder().decode(body)

  test('JSON, also null and texts', async () => {
    const json = post(bodyOf('json', 'application/json'))
    const request = await build(json, { body: { a: ['é'] } })
    expect([request.headers.get('content-type'), textOf(request)]).toEqual(['application/json', '{"a":["é"]}'])
    expect(textOf(await build(json, { body: null }))).toBe('null')
    expect(textOf(await build(json, { body: 'x' }))).toBe('"x"')
    await expect(build(json, {})).rejects.toThrow(invalid)
  })

  test('forms, with and without an encoding', async () => {
    const encoding = new Map([
      ['card', { style: 'deepObject' as const, explode: true, allowReserved: false, contentType: undefined }],
      ['ids', { style: 'pipeDelimited' as const, explode: false, allowReserved: false, contentType: undefined }],
    ])
    const form = post(bodyOf('form', 'application/x-www-form-urlencoded', { encoding }))
    const body = { name: 'a&b=c', tags: ['x', 'y'], card: { no: 1 }, ids: [1, 2], meta: { a: 1 }, none: null }
    expect(textOf(await build(form, { body }))).toBe(
      'name=a%26b%3Dc&tags=x&tags=y&card%5Bno%5D=1&ids=1%7C2&meta=%7B%22a%22%3A1%7D',
    )
    await expect(build(form, { body: 'a=1' })).rejects.toThrow(invalid)
  })

  test('multipart with a file, as another implementation reads it', async () => {
    const multipart = post(bodyOf('multipart', 'multipart/form-data', { fileProperties: new Set(['photo']) }))
    const request = await build(multipart, {
      body: { photo: 'cat.png', title: 'A "cat"\r\n--x', 'na"me': 1, meta: { a: 1 } },
    })
    const form = await new Response(request.body, { headers: request.headers }).formData()
    const photo = form.get('photo') as File
    expect([photo.name, photo.type, new Uint8Array(await photo.arrayBuffer())]).toEqual([
      'cat.png',
      'image/png',
      new Uint8Array([1, 2, 255]),
    ])
    expect(form.get('title')).toBe('A "cat"\r\n--x')
    expect(form.get('na"me')).toBe('1')
    expect(form.get('meta')).toBe('{"a":1}')
    await expect(build(multipart, { body: { photo: 'dog.png' } })).rejects.toThrow(invalid)
  })

  test('text and files', async () => {
    const text = post(bodyOf('text', 'text/csv'))
    expect(textOf(await build(text, { body: 'a,b' }))).toBe('a,b')
    await expect(build(text, { body: { a: 1 } })).rejects.toThrow(invalid)
    const binary = post(bodyOf('binary', 'image/*'))
    const request = await build(binary, { body: 'cat.png' })
    expect([request.headers.get('content-type'), request.body]).toEqual(['image/png', new Uint8Array([1, 2, 255])])
    await expect(build(binary, { body: 'dog.png' })).rejects.toThrow(invalid)
  })

  test('GET cannot have one', async () => {
    await expect(build(operationOf({ body: bodyOf('json', 'application/json') }), { body: {} })).rejects.toThrow(
      invalid,
    )
  })
})
