import { describe, expect, test, vi } from 'vitest'
import { createToolContext } from '../testing/tool-context.ts'
import { callTool, documentOf, startApi, toolsOf } from './api-server.test-kit.ts'
import { OpenApiToolset, type OpenApiToolsetOptions } from './openapi-toolset.ts'

const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
const paths = {
  '/pets': { get: { operationId: 'list_pets', summary: 'Lists pets' }, post: { operationId: 'add_pet' } },
  '/pets/{id}': {
    parameters: [id],
    get: { operationId: 'get_pet' },
    put: { operationId: 'replace_pet' },
    patch: { operationId: 'change_pet' },
    delete: { operationId: 'delete_pet', deprecated: true },
  },
}
const servers = [{ url: 'http://127.0.0.1:9/v1' }]
const spec = documentOf(paths, { servers })
const ALL = ['list_pets', 'add_pet', 'get_pet', 'replace_pet', 'delete_pet', 'change_pet']
const context = createToolContext()
const silent = { warn: () => {}, error: () => {} }

describe('listing', () => {
  test('has one tool for each operation, with description, schema and effect', async () => {
    const tools = await toolsOf({ spec })
    expect([...tools.keys()]).toEqual(ALL)
    expect([...tools.values()].map(({ effect }) => effect)).toEqual([
      'none',
      'atMostOnce',
      'none',
      'idempotent',
      'idempotent',
      'atMostOnce',
    ])
    expect(tools.get('list_pets')?.declaration()).toMatchObject({ name: 'list_pets', description: 'Lists pets' })
    expect(tools.get('delete_pet')?.description).toBe('Deprecated. DELETE /pets/{id}')
  })

  test('reads the document once, and returns the same tools each time', async () => {
    const read = vi.fn(async () => spec)
    const toolset = new OpenApiToolset({ spec: read, prefix: 'p_', toolFilter: ['get_pet'] })
    const listings = await Promise.all([1, 2, 3].map(() => toolset.listTools(context)))
    expect(read).toHaveBeenCalledTimes(1)
    expect(listings[0]?.map(({ name }) => name)).toEqual(['p_get_pet'])
    expect(listings[1]?.[0]).toBe(listings[0]?.[0])
    expect((await toolset.listTools(context))[0]).toBe(listings[0]?.[0])
  })

  test('reads the document again after a failure', async () => {
    const read = vi.fn().mockRejectedValueOnce(new Error('offline')).mockResolvedValue(spec)
    const toolset = new OpenApiToolset({ spec: read })
    await expect(toolset.listTools(context)).rejects.toThrow('offline')
    expect(await toolset.listTools(context)).toHaveLength(6)
    expect(read).toHaveBeenCalledTimes(2)
  })

  test('takes no text of a function as the path of a local file', async () => {
    const fromFunction = new OpenApiToolset({ spec: async () => '/nowhere.yaml' })
    await expect(fromFunction.listTools(context)).rejects.not.toThrow(/read from/)
    await expect(new OpenApiToolset({ spec: '/nowhere.yaml' }).listTools(context)).rejects.toThrow(/read from/)
  })

  test('has no tools with an empty filter, and those for which a function returns true', async () => {
    expect([...(await toolsOf({ spec, toolFilter: [] })).keys()]).toEqual([])
    const toolFilter: OpenApiToolsetOptions['toolFilter'] = ({ effect }) => effect === 'none'
    expect([...(await toolsOf({ spec, toolFilter })).keys()]).toEqual(['list_pets', 'get_pet'])
  })

  test('reports the problems of a document once, and leaves out what cannot be called', async () => {
    const warn = vi.fn()
    const broken = { get: { operationId: 'broken', servers: [{ url: '/relative' }] } }
    const toolset = new OpenApiToolset({
      name: 'pets',
      spec: documentOf({ ...paths, '/x': broken }, { servers }),
      logger: { warn, error: warn },
    })
    expect(await toolset.listTools(context)).toHaveLength(6)
    await toolset.listTools(context)
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/Toolset "pets": Operation "broken" is left out\..*baseUrl/)],
    ])
  })

  test('reports a name in the filter that no operation has, and a document without operations', async () => {
    const warningsOf = async (options: OpenApiToolsetOptions): Promise<string[]> => {
      const lines: string[] = []
      const logger = { warn: (line: string) => void lines.push(line), error: () => {} }
      await new OpenApiToolset({ name: 'pets', logger, ...options }).listTools(context)
      return lines
    }
    expect(await warningsOf({ spec, toolFilter: ['listPets', 'get_pet'] })).toEqual([
      'Toolset "pets": toolFilter names "listPets", but no usable tool has this name. Did you mean "list_pets"?',
    ])
    expect(await warningsOf({ spec: documentOf({}) })).toEqual([
      'Toolset "pets": The document has no operations. Check its "paths".',
    ])
  })

  describe('of a large document', () => {
    const warned: string[] = []
    const logger = { warn: (line: string) => void warned.push(line), error: () => {} }
    const list = async (options: OpenApiToolsetOptions): Promise<string[]> => {
      warned.length = 0
      return (await new OpenApiToolset({ name: 'big', logger, ...options }).listTools(context)).map(({ name }) => name)
    }
    const things = (count: number, more: object = {}) =>
      Array.from({ length: count }, (_, i) => [
        `/thing/${i}`,
        { get: { operationId: `getThing${i}`, ...structuredClone(more) } },
      ])

    test('finds the last of 20,001 operations by its name', async () => {
      const large = documentOf(Object.fromEntries(things(20_001)), { servers })
      expect(await list({ spec: large, toolFilter: ['get_thing20000'] })).toEqual(['get_thing20000'])
      expect(warned).toEqual([])
      expect(await list({ spec: large, toolFilter: ({ name }) => name === 'get_thing20000' })).toEqual([])
      expect(warned).toEqual([expect.stringMatching(/from "GET \/thing\/20000" on are left out.* in toolFilter/)])
    })

    test('warns about the operations of the filter only, and of equal problems once', async () => {
      const trouble = { security: [{ key: [] }], parameters: [{ name: 'Accept', in: 'header' }] }
      const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x' } } }
      const large = documentOf(Object.fromEntries([...things(9, trouble), ['/ok', { get: { operationId: 'ok' } }]]), {
        servers,
        components,
      })
      expect(await list({ spec: large, toolFilter: ['ok'] })).toEqual(['ok'])
      expect(warned).toEqual([])
      await list({ spec: large, toolFilter: ['get_thing1'] })
      expect(warned).toEqual([
        expect.stringMatching(/^Toolset "big": GET \/thing\/1: the header parameter "Accept" is left out/),
        expect.stringMatching(/^Toolset "big": Operation "get_thing1" needs credentials/),
      ])
      await list({ spec: large })
      expect(warned).toEqual([
        expect.stringMatching(/GET \/thing\/0, .*GET \/thing\/4 and 4 more: the header parameter "Accept" is left out/),
        expect.stringMatching(/Operation "get_thing0", .* and 4 more need credentials/),
      ])
    })

    test('knows names and variables of operations that the filter leaves out', async () => {
      const eu = { url: 'https://{region}.example.com', variables: { region: { default: 'eu' } } }
      const two = documentOf({ ...paths, '/eu': { get: { operationId: 'eu', servers: [eu] } } }, { servers })
      const options = { requiresConfirmation: ['delete_pet'], serverVariables: { region: 'us' } }
      expect(await list({ spec: two, toolFilter: ['get_pet'], ...options })).toEqual(['get_pet'])
    })

    test('says that a named operation is left out, and why', async () => {
      const lost = { '/lost': { get: { operationId: 'lost', parameters: [{ $ref: 'other.json' }] } } }
      await list({ spec: documentOf({ ...paths, ...lost }, { servers }), toolFilter: ['lost', 'get_pet'] })
      expect(warned).toEqual([
        expect.stringContaining('GET /lost is left out: it refers to "other.json"'),
        'Toolset "big": toolFilter names "lost", but its operation is left out.',
      ])
    })
  })

  test('fails if nothing can be called', async () => {
    const toolset = new OpenApiToolset({ name: 'pets', spec: documentOf(paths), logger: silent })
    await expect(toolset.listTools(context)).rejects.toThrow(
      /Toolset "pets": no operation can be called\..*Set baseUrl/,
    )
  })
})

describe('options', () => {
  test.each<[string, object, RegExp]>([
    ['unknown', { spec, specs: 1 }, /unknown option "specs". Did you mean "spec"/],
    ['missing', {}, /spec must be an OpenAPI document/],
    ['of the wrong type', { spec, confirmUnsafe: 'yes' }, /confirmUnsafe must be true or false/],
    ['an empty text', { spec: ' ' }, /spec must be/],
    ['no address', { spec, baseUrl: '//evil.example' }, /baseUrl must be an http or https URL/],
  ])('that are %s are refused', (_, options, message) => {
    expect(() => new OpenApiToolset(options as OpenApiToolsetOptions)).toThrow(message)
  })

  test('that name what the document does not have are refused at the listing', async () => {
    const list = (more: object) => new OpenApiToolset({ spec, ...more }).listTools(context)
    await expect(list({ requiresConfirmation: ['delete_pets'] })).rejects.toThrow(/Did you mean "delete_pet"/)
    await expect(list({ allowEditedArgs: ['delete_pets'] })).rejects.toThrow(/allowEditedArgs .* mean "delete_pet"/)
    await expect(list({ serverVariables: { regoin: 'eu' } })).rejects.toThrow(
      /serverVariables names the variable "regoin"/,
    )
    const auth = { petstore: { rawAuthCredential: { authType: 'apiKey', apiKey: 'k' } } }
    await expect(list({ auth })).rejects.toThrow(/security scheme "petstore", which the document does not have/)
  })
})

describe('approvals', () => {
  const gated = async (options: Partial<OpenApiToolsetOptions>): Promise<string[]> => {
    const tools = [...(await toolsOf({ spec, ...options })).values()]
    return tools.filter(({ requiresConfirmation }) => requiresConfirmation === true).map(({ name }) => name)
  }

  test('of everything, of unsafe methods, of named operations', async () => {
    expect(await gated({})).toEqual([])
    expect(await gated({ requiresConfirmation: true })).toEqual(ALL)
    const unsafe = ['add_pet', 'replace_pet', 'delete_pet', 'change_pet']
    expect(await gated({ confirmUnsafe: true })).toEqual(unsafe)
    expect(await gated({ confirmUnsafe: true, requiresConfirmation: false })).toEqual(unsafe)
    expect(await gated({ requiresConfirmation: ['delete_pet'] })).toEqual(['delete_pet'])
  })

  test('of what a function chooses by arguments, context and operation', async () => {
    const requiresConfirmation = vi.fn(() => true)
    const gate = (await toolsOf({ spec, requiresConfirmation })).get('get_pet')?.requiresConfirmation
    if (typeof gate !== 'function') throw new Error('The tool has no gate.')
    expect(await gate({ id: '1' }, context)).toBe(true)
    expect(requiresConfirmation).toHaveBeenCalledWith(
      { id: '1' },
      context,
      expect.objectContaining({ path: '/pets/{id}' }),
    )
  })
})

describe('headers', () => {
  const traced = { get: { operationId: 'get', parameters: [{ name: 'x-tenant', in: 'header' }] } }

  test('of the developer are sent with each request and replace arguments', async () => {
    await using api = await startApi()
    const headers: OpenApiToolsetOptions['headers'] = ({ invocation }) => ({ 'x-tenant': invocation.userId })
    const tools = await toolsOf({ spec: documentOf({ '/': traced }), baseUrl: api.url, headers })
    await callTool(tools, 'get', { args: { 'x-tenant': 'forged' }, userId: 'ada' })
    expect(api.seen[0]?.headers['x-tenant']).toBe('ada')
  })

  test.each([{ 'x-a': 'b\r\nc: d' }, { 'bad name': 'x' }, { 'x-a': 1 }, 'text'])(
    'like %j are refused',
    async (given) => {
      await using api = await startApi()
      const headers = () => given as Record<string, string>
      const tools = await toolsOf({ spec: documentOf({ '/': traced }), baseUrl: api.url, headers })
      await expect(callTool(tools, 'get')).rejects.toThrow('The option headers of the toolset')
      expect(api.seen).toEqual([])
    },
  )

  test('with secrets are sent to https and to this machine only', async () => {
    const send = vi.fn(async () => Response.json({}))
    const open = (baseUrl: string, headers: Record<string, string>) =>
      toolsOf({ spec: documentOf({ '/': traced }), baseUrl, fetch: send, headers: () => headers })
    const plain = await open('http://api.example.com', { 'x-api-key': 'k' })
    await expect(callTool(plain, 'get')).rejects.toThrow('http is not encrypted')
    expect(send).not.toHaveBeenCalled()
    await callTool(await open('https://api.example.com', { 'x-api-key': 'k' }), 'get')
    await callTool(await open('http://api.example.com', { 'x-tenant': 'acme' }), 'get')
    expect(send).toHaveBeenCalledTimes(2)
  })

  test('that only the developer may set are no arguments', async () => {
    const parameters = ['Authorization', 'x-ok'].map((name) => ({ name, in: 'header', required: true }))
    const tools = await toolsOf({ spec: documentOf({ '/': { get: { operationId: 'get', parameters } } }, { servers }) })
    expect(tools.get('get')?.declaration()?.parametersJsonSchema).toMatchObject({
      properties: { 'x-ok': {} },
      required: ['x-ok'],
    })
    expect(JSON.stringify(tools.get('get')?.declaration())).not.toContain('Authorization')
  })
})

describe('OA-09: idempotency keys', () => {
  const declared = {
    post: { operationId: 'pay', parameters: [{ name: 'Idempotency-Key', in: 'header', required: true }] },
  }
  const UUID = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

  test.each<[string, object, Partial<OpenApiToolsetOptions>]>([
    ['declared by the operation', declared, {}],
    ['named by the developer', { post: { operationId: 'pay' } }, { idempotencyHeader: 'Idempotency-Key' }],
  ])('%s are the same for each attempt, and after a restart [PR-03]', async (_, item, more) => {
    let failures = 2
    await using api = await startApi((_request, response) => response.writeHead(failures-- > 0 ? 503 : 200).end())
    const open = () =>
      toolsOf({ spec: documentOf({ '/': item }), baseUrl: api.url, ports: { random: () => 0 }, ...more })
    const tools = await open()
    expect(tools.get('pay')?.effect).toBe('idempotent')
    const args = { 'Idempotency-Key': 'of the model' }
    await callTool(tools, 'pay', { args, functionCallId: 'c1' })
    await callTool(await open(), 'pay', { args, functionCallId: 'c1' })
    await callTool(tools, 'pay', { args, functionCallId: 'c2' })
    const keys = api.seen.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(5)
    expect(keys[0]).toMatch(UUID)
    expect(new Set(keys.slice(0, 4)).size).toBe(1)
    expect(keys[4]).not.toBe(keys[0])
  })

  test('do not make a new call of the model harmless: a lost connection has an unknown outcome', async () => {
    await using api = await startApi((_, response) => response.destroy())
    const tools = await toolsOf({ spec: documentOf({ '/': declared }), baseUrl: api.url, ports: { random: () => 0 } })
    await expect(callTool(tools, 'pay')).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' })
    expect(api.seen).toHaveLength(3)
  })

  test('are not sent with safe methods', async () => {
    await using api = await startApi()
    const tools = await toolsOf({ spec, baseUrl: api.url, idempotencyHeader: 'Idempotency-Key' })
    await callTool(tools, 'list_pets')
    expect(api.seen[0]?.headers['idempotency-key']).toBeUndefined()
  })
})
