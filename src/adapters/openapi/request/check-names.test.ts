import { LlmAgent, Runner } from 'toolwright'
import { OpenApiToolset, type OpenApiToolsetOptions } from 'toolwright/openapi'
import { scriptedModel } from 'toolwright/testing'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'

const MODE = { name: 'mode', in: 'query', schema: { enum: ['dry-run', 'commit'] } }
const free = (name: string, place = 'query', more: JsonObject = {}): JsonObject => {
  return { name, in: place, schema: { type: 'object' }, ...more }
}

interface Api {
  readonly path?: string
  readonly parameters?: readonly JsonObject[]
  readonly requestBody?: JsonObject
  readonly more?: Partial<OpenApiToolsetOptions>
  readonly document?: JsonObject
}

/** Calls the operation `send` once. Returns what was sent, and the response to the model. */
async function call({ path = '/items', parameters = [], requestBody, more, document }: Api, args: JsonObject) {
  const sent: Request[] = []
  const operation = { operationId: 'send', parameters, ...(requestBody && { requestBody }) }
  const toolset = new OpenApiToolset({
    spec: { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { [path]: { post: operation } }, ...document },
    baseUrl: 'https://api.example.com',
    fetch: (async (request: Request) => {
      sent.push(request)
      return Response.json({ ok: true })
    }) as typeof fetch,
    logger: { warn() {}, error() {} },
    ...more,
  })
  const model = scriptedModel([{ calls: [{ name: 'send', args }] }, 'done'])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'a', model, tools: [toolset] }) })
  const { events, pending } = await runner.complete({ userId: 'ada', message: 'go' })
  const parts = events.flatMap(({ content }) => content?.parts ?? [])
  const response = parts.find(({ functionResponse }) => functionResponse)?.functionResponse?.response
  return { sent, pending, response }
}

const refused = { sent: [], response: { errorCode: 'INVALID_ARGS', error: expect.stringContaining('another field') } }

describe('a free-form object in the query', () => {
  const parameters = [MODE, free('filter')]

  test('cannot add a value to a parameter that a gate has read', async () => {
    const requiresConfirmation = ({ mode }: JsonObject): boolean => mode !== 'dry-run'
    const args = { mode: 'dry-run', filter: { mode: 'commit' } }
    expect(await call({ parameters, more: { requiresConfirmation } }, args)).toMatchObject(refused)
  })

  test.each([
    'mode',
    'Mode',
    'MODE ',
    'mode[]',
    'mode[0]',
    'mode[x][y]',
    'mode.x',
    'mo%64e',
    'mo%2564e',
    '%6d%6f%64%65',
    'mode\0x',
    'mo\u200bde',
    'ｍｏｄｅ',
  ])('cannot replace a declared parameter as %j', async (name) => {
    expect(await call({ parameters }, { filter: { [name]: 'commit' } })).toMatchObject(refused)
  })

  test.each([
    [{ a: 1 }, '?a=1'],
    [{ a: 1, A: 2 }, '?a=1&A=2'],
    [{ model: 'x', 'a.mode': 1 }, '?model=x&a.mode=1'],
    [{ filter: 1 }, '?filter=1'],
    [{ mode: null }, ''],
    ['text', '?filter=text'],
  ])('sends members with other names: %j', async (filter, query) => {
    const { sent } = await call({ parameters: [MODE, { name: 'filter', in: 'query', schema: {} }] }, { filter })
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([query])
  })

  test('cannot have a member of another free-form object', async () => {
    const two = [free('filter'), free('options')]
    expect(await call({ parameters: two }, { filter: { a: 1 }, options: { A: 2 } })).toMatchObject(refused)
    const { sent } = await call({ parameters: two }, { filter: { a: 1 }, options: { b: 2 } })
    expect(sent.map(({ url }) => url)).toEqual(['https://api.example.com/items?a=1&b=2'])
  })

  test('cannot write into a deepObject, which keeps its own members', async () => {
    const deep = [free('filter', 'query', { style: 'deepObject' }), free('more')]
    expect(await call({ parameters: deep }, { filter: { a: 1 }, more: { 'filter[a]': 2 } })).toMatchObject(refused)
    const { sent } = await call({ parameters: deep }, { filter: { a: { b: 1 } }, more: { 'page[a]': 2 } })
    expect(new URL(sent[0]?.url ?? '').search).toBe('?filter%5Ba%5D%5Bb%5D=1&page%5Ba%5D=2')
  })

  test('cannot replace a parameter whose name is a member of a deepObject', async () => {
    const deep = [{ ...MODE, name: 'filter[mode]' }, free('filter', 'query', { style: 'deepObject' })]
    expect(await call({ parameters: deep }, { filter: { mode: 'commit' } })).toMatchObject(refused)
    expect((await call({ parameters: deep }, { filter: { other: 'x' } })).sent).toHaveLength(1)
  })

  test('cannot smuggle a parameter in a name when reserved characters are allowed', async () => {
    const open = [MODE, free('filter', 'query', { allowReserved: true })]
    const { sent } = await call({ parameters: open }, { filter: { 'mode=commit;x': '1' } })
    expect([...new URL(sent[0]?.url ?? '').searchParams.keys()]).toEqual(['mode=commit;x'])
  })

  test('cannot repeat the query that a document has in its path', async () => {
    const api = { path: '/?Action=List', parameters: [free('filter')] }
    expect(await call(api, { Action: 'List', filter: { action: 'Delete' } })).toMatchObject(refused)
  })

  test('cannot repeat the parameter of an API key', async () => {
    const scheme = { type: 'apiKey', in: 'query', name: 'api_key' }
    const document = { components: { securitySchemes: { key: scheme } }, security: [{ key: [] }] }
    const more = { auth: { key: { rawAuthCredential: { authType: 'apiKey', apiKey: 'secret' } } } } as const
    const api = { parameters: [free('filter')], document, more }
    expect(await call(api, { filter: { API_KEY: 'mine' } })).toMatchObject(refused)
    const { sent } = await call(api, { filter: { a: 1 } })
    expect(sent.map(({ url }) => url)).toEqual(['https://api.example.com/items?a=1&api_key=secret'])
  })
})

test('a free-form object in cookies cannot repeat or replace a declared cookie', async () => {
  const parameters = [{ ...MODE, in: 'cookie' }, free('prefs', 'cookie')]
  for (const name of ['mode', 'MODE', 'mo%64e'])
    expect(await call({ parameters }, { mode: 'dry-run', prefs: { [name]: 'commit' } })).toMatchObject(refused)
  const { sent } = await call({ parameters }, { mode: 'dry-run', prefs: { theme: 'dark' } })
  expect(sent[0]?.headers.get('cookie')).toBe('mode=dry-run; theme=dark')
})

test('a free-form object in a path with matrix parameters cannot repeat another one', async () => {
  const matrix = { style: 'matrix', explode: true, required: true }
  const parameters = [{ ...MODE, in: 'path', ...matrix }, free('filter', 'path', matrix)]
  const api = { path: '/items{mode}{filter}', parameters }
  expect(await call(api, { mode: 'dry-run', filter: { mode: 'commit' } })).toMatchObject(refused)
  const { sent } = await call(api, { mode: 'dry-run', filter: { a: 1 } })
  expect(sent.map(({ url }) => url)).toEqual(['https://api.example.com/items;mode=dry-run;a=1'])
})

describe.each(['application/x-www-form-urlencoded', 'multipart/form-data'])('a body of %s', (contentType) => {
  const schema = {
    type: 'object',
    properties: { mode: { enum: ['dry-run', 'commit'] }, filter: { type: 'object' } },
  }
  const encoding = { filter: { style: 'form', explode: true } }
  const content = { [contentType]: { schema: { ...schema, additionalProperties: true }, encoding } }
  const api: Api = { requestBody: { required: true, content } }

  test('cannot repeat or replace a field with a member of another field', async () => {
    const flat: Api = { requestBody: { required: true, content: { [contentType]: { schema, encoding } } } }
    expect(await call(flat, { mode: 'dry-run', filter: { mode: 'commit' } })).toMatchObject(refused)
    expect(await call(flat, { filter: { 'MODE[]': 'commit' } })).toMatchObject(refused)
    const { sent } = await call(flat, { mode: 'dry-run', filter: { a: 1 } })
    const form = await (sent[0] as Request).formData()
    expect([...form.entries()]).toEqual([
      ['mode', 'dry-run'],
      ['a', '1'],
    ])
  })

  test('cannot repeat or replace a declared property with a member of an object', async () => {
    const both = { mode: 'dry-run', filter: { mode: 'commit' } }
    expect(await call(api, { body: both })).toMatchObject(refused)
    expect(await call(api, { body: { filter: { 'MODE[]': 'commit' } } })).toMatchObject(refused)
  })

  test('cannot repeat a declared property with one that is not declared', async () => {
    expect(await call(api, { body: { mode: 'dry-run', 'mode[]': 'commit' } })).toMatchObject(refused)
  })

  test('sends members and properties with other names', async () => {
    const { sent } = await call(api, { body: { mode: 'dry-run', filter: { a: 1 }, more: 'x' } })
    const form = await (sent[0] as Request).formData()
    expect([...form.entries()]).toEqual([
      ['mode', 'dry-run'],
      ['a', '1'],
      ['more', 'x'],
    ])
  })
})

describe('names that some servers write with an underscore', () => {
  const dryRun = { name: 'dry_run', in: 'query', schema: { type: 'string' } }

  test.each(['dry.run', 'dry[run', 'Dry.Run', 'dry%2Erun'])('a member %s cannot replace dry_run', async (name) => {
    const args = { dry_run: '1', filter: { [name]: '0' } }
    expect(await call({ parameters: [dryRun, free('filter')] }, args)).toMatchObject(refused)
  })

  test('members of a declared object are no parameters with an underscore', async () => {
    const dry = free('dry', 'query', { style: 'deepObject', explode: true })
    const { sent } = await call({ parameters: [dryRun, dry] }, { dry_run: '1', dry: { run: '0' } })
    expect(sent[0]?.url).toBe('https://api.example.com/items?dry_run=1&dry%5Brun%5D=0')
  })
})

describe('an item that contains the separator of its list', () => {
  const object = { type: 'object', properties: { unit: { type: 'string' }, role: { const: 'user' } } }
  const list = { type: 'array', items: { type: 'string' } }
  const inHeader = (schema: JsonObject, explode: boolean): JsonObject => ({
    name: 'X-A',
    in: 'header',
    schema,
    explode,
  })
  const inQuery = (style: string): JsonObject => ({ name: 'X-A', in: 'query', schema: list, style, explode: false })
  const whole = { sent: [], response: { errorCode: 'INVALID_ARGS', error: expect.stringContaining('separates') } }

  test.each<[string, JsonObject, unknown]>([
    ['a member of a header', inHeader(object, true), { unit: 'a,role=admin', role: 'user' }],
    ['the name of a member of a header', inHeader({ type: 'object' }, true), { 'role=admin,x': '1' }],
    ['the name of a member with an equal sign', inHeader({ type: 'object' }, true), { 'role=admin': '1' }],
    ['a pair of a header', inHeader(object, false), { unit: 'a,role,admin' }],
    ['a list in a header', inHeader(list, false), ['1,2']],
    ['a list with pipes', inQuery('pipeDelimited'), ['1|2', '3']],
    ['a list with spaces', inQuery('spaceDelimited'), ['1 2', '3']],
  ])('is refused in %s', async (_, parameter, value) => {
    expect(await call({ parameters: [parameter] }, { 'X-A': value })).toMatchObject(whole)
  })

  const inPath = (schema: JsonObject, explode = true): JsonObject => {
    return { name: 'id', in: 'path', required: true, schema, style: 'label', explode }
  }

  test.each<[string, JsonObject, unknown]>([
    ['a list', list, ['1', '2.3']],
    ['a list of numbers', { type: 'array', items: { type: 'number' } }, [1, 2.5]],
    ['a member', object, { unit: 'a.role=admin', role: 'user' }],
    ['the name of a member', { type: 'object' }, { 'x.role': 'admin' }],
  ])('is refused in %s of a path whose items are separated by dots', async (_, schema, value) => {
    expect(await call({ path: '/items{id}', parameters: [inPath(schema)] }, { id: value })).toMatchObject(whole)
  })

  test('is sent in a path where dots separate nothing, and as a text of its own', async () => {
    const urlOf = async (parameter: JsonObject, id: unknown): Promise<string | undefined> =>
      (await call({ path: '/items{id}', parameters: [parameter] }, { id })).sent[0]?.url
    expect(await urlOf(inPath(list), ['1', '2'])).toBe('https://api.example.com/items.1.2')
    expect(await urlOf(inPath(list, false), ['1.5', '2'])).toBe('https://api.example.com/items.1.5,2')
    expect(await urlOf(inPath({ type: 'string' }), '1.5')).toBe('https://api.example.com/items.1.5')
  })

  test('is sent where it can be encoded, and as a text of its own', async () => {
    const { sent } = await call({ parameters: [inQuery('form')] }, { 'X-A': ['1,2', '3'] })
    expect(sent[0]?.url).toBe('https://api.example.com/items?X-A=1%2C2,3')
    const text = await call({ parameters: [inHeader({ type: 'string' }, false)] }, { 'X-A': 'Mon, 1 Jan' })
    expect(text.sent[0]?.headers.get('x-a')).toBe('Mon, 1 Jan')
  })
})
