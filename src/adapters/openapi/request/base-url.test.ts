import { expect, test } from 'vitest'
import { callTool, documentOf, startApi, toolsOf } from '../api-server.test-kit.ts'
import { operationOf } from '../operation.test-kit.ts'
import type { ServerTemplate } from '../operation.ts'
import { baseUrlOf } from './base-url.ts'

const VARIABLES = new Map([
  ['region', { default: 'eu', enum: ['eu', 'us'] }],
  ['port', { default: '443', enum: undefined }],
])
const server = (url: string): ServerTemplate => ({ url, variables: VARIABLES })
const invalid = expect.objectContaining({ name: 'ToolwrightError', code: 'INVALID_CONFIG' })

test('OA-02: the developer chooses the variables of a server, within the values of the document', () => {
  const operation = operationOf({ servers: [server('https://{region}.example.com:{port}/v1/')] })
  expect(baseUrlOf(operation, {}, true).href).toBe('https://eu.example.com/v1')
  const serverVariables = { region: 'us', port: '8443' }
  expect(baseUrlOf(operation, { serverVariables }, true).href).toBe('https://us.example.com:8443/v1')
  expect(() => baseUrlOf(operation, { serverVariables: { region: 'evil' } }, true)).toThrow(
    'serverVariables: "region" must be one of "eu", "us".',
  )
  const unknown = operationOf({ servers: [server('https://{tenant}.example.com')] })
  expect(() => baseUrlOf(unknown, {}, true)).toThrow('Set it in serverVariables.')
})

test('OA-02: baseUrl replaces the server of the document, path included', () => {
  const operation = operationOf({ servers: [server('https://evil.example/v9')] })
  expect(baseUrlOf(operation, { baseUrl: 'https://api.example.com/v1/' }, true).href).toBe('https://api.example.com/v1')
})

test.each([
  '/v1',
  '//evil.example/v1',
  'api.example.com',
  'ws://example.com',
  'file:///etc',
  'https://a:b@example.com',
  'https://example.com?x=1',
])('OA-02: the server %s is refused with advice about baseUrl or auth', (url) => {
  expect(() => baseUrlOf(operationOf({ servers: [server(url)] }), {}, false)).toThrow(/baseUrl|auth/)
  expect(() => baseUrlOf(operationOf(), { baseUrl: url }, false)).toThrow(invalid)
  expect(() => baseUrlOf(operationOf({ servers: [] }), {}, false)).toThrow('Set baseUrl.')
})

test('OA-02: credentials go to https and to this machine only', () => {
  const http = operationOf({ servers: [server('http://api.example.com')] })
  expect(() => baseUrlOf(http, {}, true)).toThrow('http is not encrypted')
  expect(baseUrlOf(http, {}, false).origin).toBe('http://api.example.com')
  expect(baseUrlOf(operationOf(), {}, true).origin).toBe('http://127.0.0.1')
})

test('OA-02: no argument changes the server', async () => {
  await using api = await startApi()
  await using evil = await startApi()
  const servers = [{ url: `${api.url}/{tenant}`, variables: { tenant: { default: 'a' } } }]
  const spec = documentOf({ '/things': { get: { operationId: 'list' } } }, { servers })
  const tools = await toolsOf({ spec })
  const args = { tenant: 'b', baseUrl: evil.url, server: evil.url, servers: [{ url: evil.url }], host: evil.url }
  expect(await callTool(tools, 'list', { args })).toMatchObject({ status: 200 })
  expect(api.seen.map(({ url }) => url)).toEqual(['/a/things'])
  expect(evil.seen).toEqual([])
})
