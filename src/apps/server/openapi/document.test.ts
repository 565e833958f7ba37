import { readFileSync } from 'node:fs'
import { validate } from '@scalar/openapi-parser'
import { Hono } from 'hono'
import { ToolDispatcher } from 'toolwright'
import { OpenApiToolset } from 'toolwright/openapi'
import { createToolContext } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { Apps } from '../apps.ts'
import type { ServerEnv, ServerParts } from '../env.ts'
import { healthRoutes, metricsRoutes } from '../health/routes.ts'
import { apiRoutes } from '../routes/api-routes.ts'
import { createTestServer } from '../server.test-kit.ts'

async function readDocument(): Promise<{ paths: { [path: string]: object } }> {
  return (await createTestServer().send('GET /openapi.json')).json()
}

test('the description of the API is valid OpenAPI 3.1', async () => {
  const { valid, errors, version } = await validate(await readDocument())
  expect({ valid, errors, version }).toEqual({ valid: true, errors: [], version: '3.1' })
})

test('every route is described, and every described route exists', async () => {
  const { paths } = await readDocument()
  const described = Object.entries(paths).flatMap(
    ([path, { parameters: _, ...item }]: [string, { parameters?: unknown }]) =>
      Object.keys(item).map((method) => `${method} ${path.replace(/\/artifacts\/\{name\}.*/, '/artifacts/*')}`),
  )
  const app = new Hono<ServerEnv>()
  const options = { apps: {} }
  const parts = { apps: new Apps(options), options } as unknown as ServerParts // registering routes needs no more
  healthRoutes(app, parts)
  metricsRoutes(app, parts)
  apiRoutes(app, parts)
  const registered = app.routes.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
  expect(registered.length).toBeGreaterThan(20)
  expect([...new Set(described)].sort()).toEqual([...new Set(registered)].sort())
})

test('the documentation lists every described route', async () => {
  const { paths } = await readDocument()
  const described = Object.entries(paths).flatMap(
    ([path, { parameters: _, ...item }]: [string, { parameters?: unknown }]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const [, table = ''] = readFileSync('docs/reference/http-api.md', 'utf8').split('## Routes\n')
  const listed = Array.from(table.split('## ')[0]?.matchAll(/^\| `([^`]+)`/gm) ?? [], ([, route]) => route)
  expect(listed.sort()).toEqual(described.sort())
})

test('an agent can use the API as tools', async () => {
  const { server, send } = createTestServer()
  await send('POST /apps/desk/users/ada/sessions', { sessionId: 's1' })
  const spec = (await send('GET /openapi.json')).json()
  const credentials = { token: server.token as string }
  const toolset = new OpenApiToolset({
    spec,
    baseUrl: 'http://127.0.0.1',
    auth: {
      authScheme: { type: 'http', scheme: 'bearer' },
      rawAuthCredential: { authType: 'http', http: { scheme: 'bearer', credentials } },
    },
    fetch: async (input, init) => await server.fetch(new Request(input, init)),
  })
  const tools = await toolset.listTools(createToolContext())
  expect(tools.length).toBeGreaterThan(20)
  const dispatcher = new ToolDispatcher()
  for (const tool of tools) dispatcher.register(tool)
  const listed = await dispatcher.call('list_sessions', { app: 'desk', user: 'ada' })
  expect(listed).toMatchObject({ status: 200, body: [{ id: 's1' }] })
})
