// Operations of an API as tools of an agent: approvals, consents, credentials and failures, through a runner.
import { approve, cached, deny, type JsonObject, type LlmAgentOptions, respond } from 'toolwright'
import { ApiHubToolset, ApiRegistry, OpenApiToolset, type OpenApiToolsetOptions } from 'toolwright/openapi'
import { createToolContext, type ScriptedStep } from 'toolwright/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type ApiServer,
  documentOf,
  type Handler,
  sendJson,
  startApi,
} from '../../src/adapters/openapi/api-server.test-kit.ts'
import { startProcess, stores } from './approvals-kit.ts'
import { consentTo, type Desk, onlyRequest, openDesk, responsesIn, where } from './credentials-kit.ts'

const body = { required: true, content: { 'application/json': { schema: { type: 'object' } } } }
const paths = {
  '/orders': { get: { operationId: 'list_orders' }, post: { operationId: 'add_order', requestBody: body } },
}
const ADD: ScriptedStep = { calls: [{ name: 'add_order', id: 'c1', args: { body: { item: 'tea' } } }] }
const LIST: ScriptedStep = { calls: [{ name: 'list_orders', id: 'c1', args: {} }] }

/** The orders of a shop: it adds what is posted, and can be told to misbehave. */
async function openShop(handler?: Handler): Promise<ApiServer> {
  return await startApi(
    handler ?? (({ method }, response) => sendJson(response, { done: method }, method === 'POST' ? 201 : 200)),
  )
}

function shopTools(api: ApiServer, more: Partial<OpenApiToolsetOptions> = {}): OpenApiToolset {
  return new OpenApiToolset({ name: 'shop', spec: documentOf(paths), baseUrl: api.url, retries: 0, ...more })
}

describe.each(stores)('an approval for a POST, with sessions %s', (_, open) => {
  test('is asked for before the request; after it the request is sent once, in another process', async () => {
    await using api = await openShop()
    const store = open()
    const first = startProcess(store, { tools: [shopTools(api, { confirmUnsafe: true })], steps: [ADD] })
    const { pending } = await first.runner.complete({ ...where, message: 'order tea' })
    expect(pending).toMatchObject([
      { kind: 'confirmation', tool: 'add_order', hint: `Approve POST /orders at ${api.url}?` },
    ])
    expect(api.seen).toEqual([])
    const second = startProcess(store, { tools: [shopTools(api, { confirmUnsafe: true })], steps: ['ordered'] })
    const { events, text } = await second.runner.complete({ ...where, message: [approve(pending[0] as never)] })
    expect(text).toBe('ordered')
    expect(responsesIn(events).c1).toEqual({ status: 201, body: { done: 'POST' } })
    expect(api.seen.map((request) => `${request.method} ${request.body}`)).toEqual(['POST {"item":"tea"}'])
  })

  test('that is denied means that nothing is sent [DG-03]', async () => {
    await using api = await openShop()
    const { runner } = startProcess(open(), { tools: [shopTools(api, { confirmUnsafe: true })], steps: [ADD, 'fine'] })
    const { pending } = await runner.complete({ ...where, message: 'order tea' })
    await runner.complete({ ...where, message: [deny(pending[0] as never)] })
    expect(api.seen).toEqual([])
  })

  test('is not asked for a GET', async () => {
    await using api = await openShop()
    const { runner } = startProcess(open(), { tools: [shopTools(api, { confirmUnsafe: true })], steps: [LIST, 'none'] })
    expect((await runner.complete({ ...where, message: 'orders?' })).pending).toEqual([])
    expect(api.seen).toHaveLength(1)
  })
})

describe('credentials', () => {
  let desk: Desk
  beforeEach(async () => {
    desk = await openDesk()
  })
  afterEach(async () => await desk[Symbol.asyncDispose]())

  /** An API that asks the authorization server about each token. */
  const guarded: Handler = async ({ headers }, response) => {
    const status = await desk.server.useToken(String(headers.authorization).replace('Bearer ', ''))
    sendJson(response, { ok: status === 200 }, status)
  }

  /** The shop with the authorization server of the desk in its document. */
  function oauthShop(api: ApiServer): OpenApiToolset {
    const { issuer, clientId, clientSecret, redirectUri } = desk.server
    const scopes = { mail: 'Read mail', admin: 'Everything' }
    const flow = { authorizationUrl: `${issuer}/auth`, tokenUrl: `${issuer}/token`, scopes }
    const securitySchemes = { shop_auth: { type: 'oauth2', flows: { authorizationCode: flow } } }
    const spec = documentOf(paths, { components: { securitySchemes }, security: [{ shop_auth: ['openid', 'mail'] }] })
    const rawAuthCredential = { authType: 'oauth2', oauth2: { clientId, clientSecret, redirectUri } }
    return shopTools(api, { spec, auth: { shop_auth: { rawAuthCredential } } })
  }

  test('of an OAuth API pause the run for the scopes of the operation, and the token reaches the API', async () => {
    await using api = await openShop(guarded)
    const runner = desk.start({ tools: [oauthShop(api)], steps: [LIST, 'here they are'] })
    const { pending } = await runner.complete({ ...where, message: 'orders?' })
    expect(pending).toMatchObject([{ kind: 'credential', tool: 'list_orders' }])
    const request = await onlyRequest(runner)
    expect(new URL(request.authUri ?? '').searchParams.get('scope')).toBe('openid mail')
    expect(api.seen).toEqual([])
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    const { events, text } = await runner.complete({ ...where, message })
    expect(text).toBe('here they are')
    expect(responsesIn(events).c1).toEqual({ status: 200, body: { ok: true } })
    const token = String(api.seen[0]?.headers.authorization).replace('Bearer ', '')
    expect(JSON.stringify([events, desk.warnings])).not.toContain(token)
  })

  test('of API Hub pause the run before the tools are listed', async () => {
    await using api = await openShop()
    const contents = Buffer.from(JSON.stringify(documentOf(paths))).toString('base64')
    await using hub = await startApi(async (request, response) => {
      const status = await desk.server.useToken(String(request.headers.authorization).replace('Bearer ', ''))
      sendJson(response, { contents, mimeType: 'application/json' }, status)
    })
    const apihubResourceName = 'projects/p/locations/l/apis/shop/versions/1/specs/rest'
    const apihubAuth = desk.server.oauth2Config()
    const toolset = new ApiHubToolset({ apihubResourceName, apihubUrl: hub.url, apihubAuth, baseUrl: api.url })
    const runner = desk.start({ tools: [toolset], steps: [LIST, 'done'] })
    await runner.complete({ ...where, message: 'orders?' })
    expect(hub.seen).toEqual([])
    const request = await onlyRequest(runner)
    const message = [respond(request, { authResponseUri: await consentTo(request) })]
    expect((await runner.complete({ ...where, message })).text).toBe('done')
    expect(api.seen).toHaveLength(1)
    expect(api.seen[0]?.headers.authorization).toBeUndefined()
  })

  test('that an operation needs together are all sent', async () => {
    await using api = await openShop()
    const securitySchemes = {
      key: { type: 'apiKey', in: 'header', name: 'x-key' },
      app: { type: 'apiKey', in: 'query', name: 'app' },
      session: { type: 'apiKey', in: 'cookie', name: 'sid' },
    }
    const security = [{ key: [], app: [], session: [] }]
    const spec = documentOf(paths, { components: { securitySchemes }, security })
    const keyOf = (apiKey: string) => ({ rawAuthCredential: { authType: 'apiKey', apiKey } })
    const auth = { key: keyOf('canary-1'), app: keyOf('canary-2'), session: keyOf('canary-3') }
    const runner = desk.start({ tools: [shopTools(api, { spec, auth })], steps: [LIST, 'done'] })
    const { events } = await runner.complete({ ...where, message: 'orders?' })
    expect(responsesIn(events).c1).toMatchObject({ status: 200 })
    expect(api.seen[0]).toMatchObject({
      url: '/orders?app=canary-2',
      headers: { 'x-key': 'canary-1', cookie: 'sid=canary-3' },
    })
    expect(JSON.stringify([events, desk.warnings])).not.toContain('canary')
  })

  test('that are missing are an AUTH_FAILED response with the name of the scheme', async () => {
    await using api = await openShop()
    const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'x-key' } }
    const spec = documentOf(paths, { components: { securitySchemes }, security: [{ key: [] }] })
    const logger = { warn: () => {}, error: () => {} }
    const runner = desk.start({ tools: [shopTools(api, { spec, logger })], steps: [LIST, 'sorry'] })
    const { events } = await runner.complete({ ...where, message: 'orders?' })
    expect(responsesIn(events).c1).toMatchObject({ errorCode: 'AUTH_FAILED', error: expect.stringContaining('"key"') })
    expect(api.seen).toEqual([])
  })
})

describe('failures', () => {
  const run = async (tools: LlmAgentOptions['tools'], ...steps: ScriptedStep[]): Promise<JsonObject> => {
    const [, open] = stores[0] as (typeof stores)[0]
    const { runner } = startProcess(open(), { tools, steps: [...steps, 'done'] })
    return responsesIn((await runner.complete({ ...where, message: 'go' })).events)
  }

  test('a POST whose connection is lost has an unknown outcome', async () => {
    await using api = await openShop((_, response) => response.destroy())
    const { c1 } = await run([shopTools(api)], ADD)
    expect(c1).toMatchObject({ status: 'unknown_outcome', errorCode: 'UNKNOWN_OUTCOME' })
    expect(api.seen).toHaveLength(1)
  })

  test('an error of the API is an error result that no cache stores', async () => {
    let status = 500
    await using api = await openShop((_, response) => sendJson(response, { status }, status))
    const [list] = await shopTools(api, { toolFilter: ['list_orders'] }).listTools(createToolContext())
    const orders = cached(list as never, { ttlMs: 60_000 })
    const again = (id: string): ScriptedStep => ({ calls: [{ name: 'list_orders', id, args: {} }] })
    expect(await run([orders], again('a'))).toMatchObject({ a: { errorCode: 'EXECUTION_FAILED' } })
    status = 200
    expect(await run([orders], again('b'), again('c'))).toMatchObject({ b: { status: 200 }, c: { status: 200 } })
    expect(api.seen).toHaveLength(2)
  })

  test('arguments that leave the path are refused, and honest ones are sent', async () => {
    await using api = await openShop()
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
    const spec = documentOf({ '/orders/{id}': { get: { operationId: 'get_order', parameters: [id] } } })
    const call = (callId: string, value: string) => ({ name: 'get_order', id: callId, args: { id: value } })
    const responses = await run([shopTools(api, { spec })], { calls: [call('bad', '../admin'), call('good', 'a/b')] })
    expect(responses).toMatchObject({ bad: { errorCode: 'INVALID_ARGS' }, good: { status: 200 } })
    expect(api.seen.map(({ url }) => url)).toEqual(['/orders/a%2Fb'])
  })
})

test('the tools of an ApiRegistry can be called', async () => {
  await using api = await openShop()
  const registry = new ApiRegistry()
  registry.registerOpenApiSpec({ spec: documentOf(paths), baseUrl: api.url })
  const tools = registry.getTools()
  const [, open] = stores[0] as (typeof stores)[0]
  const { runner } = startProcess(open(), { tools: [...tools], steps: [LIST, 'done'] })
  expect((await runner.complete({ ...where, message: 'orders?' })).text).toBe('done')
  expect(api.seen).toHaveLength(1)
})
