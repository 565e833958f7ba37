import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createServer } from '../create-server.ts'
import { helloAgent, rawRequest, sendRaw, statusOf } from '../edge.test-kit.ts'

let port = 0
let token = ''
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'page-'))
  const page = join(folder, 'workbench')
  await mkdir(join(page, 'assets'), { recursive: true })
  await writeFile(join(page, 'index.html'), '<title>Workbench</title>')
  await writeFile(join(page, 'assets', 'main-1a2b.js'), 'start()')
  await writeFile(join(page, 'notes.txt'), 'not served')
  await writeFile(join(folder, 'secret.json'), '{"secret":1}')
  const server = createServer({ apps: { hello: helloAgent() }, page })
  ;({ port } = await server.listen({ port: 0 }))
  token = String(server.token)
  return async () => {
    await server.close()
    await rm(folder, { recursive: true })
  }
})

const get = (path: string): Promise<string> =>
  sendRaw(port, rawRequest(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`]))

test('serves the page with a strict policy, and its assets with a long life', async () => {
  const page = await get('/')
  expect(page).toContain('<title>Workbench</title>')
  expect(page.toLowerCase()).toContain("content-security-policy: default-src 'none'; script-src 'self';")
  expect(page).toMatch(
    /require-trusted-types-for 'script'.*frame-ancestors|frame-ancestors 'none'.*require-trusted-types/,
  )
  expect(page.toLowerCase()).toMatch(/x-content-type-options: nosniff/)
  const script = await get('/assets/main-1a2b.js')
  expect(script).toContain('immutable')
  expect(script).toContain('start()')
})

test.each([
  '/../secret.json',
  '/assets/../../secret.json',
  '/%2e%2e/secret.json',
  '/..%2fsecret.json',
  '/%2e%2e%2fsecret.json',
  '/..%5csecret.json',
  '/assets/..%2f..%2fsecret.json',
  '/....//secret.json',
  '//secret.json',
  '/secret.json%00.html',
  '/%252e%252e/secret.json',
  '/notes.txt',
  '/missing.js',
])('does not serve %s', async (path) => {
  const answer = await get(path)
  expect([400, 404]).toContain(statusOf(answer))
  expect(answer).not.toContain('"secret"')
})
