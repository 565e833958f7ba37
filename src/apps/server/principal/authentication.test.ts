import { expect, test } from 'vitest'
import { createServer } from '../create-server.ts'
import { helloAgent, silent, startServer } from '../edge.test-kit.ts'
import type { ServerOptions } from '../server-options.ts'
import { bearerTokens } from './bearer-tokens.ts'

const apps = { hello: helloAgent() }
const behind = (options: Partial<ServerOptions> = {}) => {
  const server = createServer({ apps, logger: silent, ...options })
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    server.fetch(new Request(`http://localhost:8000${path}`, { headers }))
  return { server, get }
}

test('every route but /health and /ready needs the token', async () => {
  const { server, get } = behind({ dev: true })
  expect([(await get('/health')).status, (await get('/ready')).status]).toEqual([200, 200])
  const token = String(server.token)
  expect(token.length).toBeGreaterThanOrEqual(32)
  const wrong: Record<string, string>[] = [
    {},
    { authorization: 'Bearer' },
    { authorization: `Bearer ${token.slice(0, -1)}` },
    { authorization: `Bearer ${token}x` },
    { authorization: `Basic ${token}` },
    { authorization: token },
    { cookie: 'toolwright-token-8000=' },
    { cookie: `toolwright-token-9000=${token}` }, // the cookie of a server on another port
  ]
  const paths = [
    '/',
    '/list-apps',
    '/metrics',
    '/openapi.json',
    '/dev/info',
    '/nothing',
    '/apps/hello/users/ada/sessions',
  ]
  for (const headers of wrong)
    for (const path of paths) expect((await get(path, headers)).status, `${path} ${JSON.stringify(headers)}`).toBe(401)
  const refused = await get('/list-apps')
  expect(refused.headers.get('www-authenticate')).toBe('Bearer')
  expect(await refused.json()).toMatchObject({ errorCode: 'UNAUTHENTICATED', correlationId: expect.any(String) })
  expect((await get('/list-apps', { authorization: `bearer ${token}` })).status).toBe(200)
})

test('a browser tab without the token gets a page that asks for it, and nothing else', async () => {
  const { server, get } = behind({ page: 'dist/workbench' })
  const tab = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' }
  const attempts = ['/', '/list-apps', '/?token=wrong'].flatMap((path) =>
    [tab, { accept: 'text/html,*/*' }].map((headers) => ({ path, headers })),
  )
  for (const { path, headers } of attempts) {
    const response = await get(path, headers)
    const text = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
    expect(text).toMatch(/<form method="post"( action="\/")?><label>Token <input name="token" type="password"/)
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^' ]+'; form-action 'self'/,
    )
    expect(text).not.toContain('<script')
    expect(text).not.toContain(String(server.token))
  }
  expect((await get('/list-apps', { ...tab, authorization: `Bearer ${server.token}` })).status).toBe(200)
})

test('the printed address is exchanged for a cookie that scripts and other sites cannot use', async () => {
  const { server, get } = behind()
  const response = await get(`/?token=${server.token}&app=hello`)
  expect(response.status).toBe(303)
  expect(response.headers.get('location')).toBe('/?app=hello')
  const cookie = String(response.headers.get('set-cookie'))
  expect(cookie).toMatch(/^toolwright-token-8000=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/)
  expect((await get('/list-apps', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200)
  for (const path of [
    '/?token=wrong',
    '/?token=',
    `/list-apps?token=${server.token}`,
    `//evil.test/?token=${server.token}`,
  ])
    expect((await get(path)).status, path).toBe(401)
  const other = await server.fetch(new Request(`http://localhost:9000/?token=${server.token}`))
  expect(other.headers.get('set-cookie')).toMatch(/^toolwright-token-9000=/)
  const secure = await server.fetch(new Request(`https://localhost/?token=${server.token}`))
  expect(secure.headers.get('set-cookie')).toMatch(
    /^__Host-toolwright-token=.*Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
})

test('the token that a person enters is exchanged for a cookie, and no address has it', async () => {
  const { server } = behind()
  const enter = (token: string, path = '/', more: Record<string, string> = {}): Promise<Response> => {
    const body = new URLSearchParams({ token }).toString()
    const type = 'application/x-www-form-urlencoded'
    const headers = { 'content-type': type, 'content-length': String(body.length), ...more }
    return server.fetch(new Request(`http://localhost:8000${path}`, { method: 'POST', body, headers }))
  }
  const right = await enter(` ${server.token} `, '/', { origin: 'http://localhost:8000' })
  expect([right.status, right.headers.get('location')]).toEqual([303, '/'])
  expect(right.headers.get('set-cookie')).toMatch(/^toolwright-token-8000=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/)
  const wrong = await enter('wrong')
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null])
  expect(await wrong.text()).toContain('This is not the token of the server.')
  const token = String(server.token)
  expect((await enter(token, '/', { origin: 'http://evil.test' })).status).toBe(403)
  expect((await enter(token, '/list-apps')).status).toBe(401)
  expect((await enter(token, '/', { 'content-type': 'text/plain' })).status).toBe(401)
  expect((await enter('x'.repeat(5_000))).status).toBe(401)
})

test('a link of another site to the page loads it again, so that the browser sends the cookie', async () => {
  const { get } = behind()
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const response = await get('/?code=x&state=y', link)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('http-equiv="refresh"')
  expect((await get('/?code=x', { ...link, 'sec-fetch-site': 'same-origin' })).status).toBe(401)
})

test('a principal acts as itself only; one that may act as any user does', async () => {
  const authenticate = bearerTokens({
    'ada-token-0123456789': 'ada',
    'ops-token-0123456789': { userId: 'ops', mayActAsAnyUser: true },
  })
  const { get } = behind({ authenticate })
  const sessions = async (user: string, token: string): Promise<number> =>
    (await get(`/apps/hello/users/${user}/sessions`, { authorization: `Bearer ${token}-token-0123456789` })).status
  expect(await sessions('ada', 'ada')).toBe(200)
  expect(await sessions('ADA', 'ada')).toBe(403)
  expect(await sessions('eve', 'ada')).toBe(403)
  expect(await sessions('ada%2F', 'ada')).toBe(403)
  expect(await sessions('eve', 'ops')).toBe(200)
  expect(await sessions('ada', 'eve')).toBe(401)
})

test('an `authenticate` that throws or returns nonsense lets no request in', async () => {
  const results: unknown[] = [
    undefined,
    null,
    false,
    true,
    'ada',
    {},
    { userId: '' },
    { userId: 7 },
    [],
    new Error('x'),
  ]
  for (const result of results) {
    const authenticate = (): never => {
      if (result instanceof Error) throw result
      return result as never
    }
    const { status } = await behind({ authenticate }).get('/list-apps')
    expect([401, 500], JSON.stringify(result)).toContain(status)
  }
  const truthy = { userId: 'ada', mayActAsAnyUser: 'no' } as never // only true counts
  expect((await behind({ authenticate: () => truthy }).get('/apps/hello/users/eve/sessions')).status).toBe(403)
})

test('refuses to listen where other machines reach a server without authentication', async () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com'])
    await expect(createServer({ apps }).listen({ port: 0, host }), host).rejects.toThrow('has no authentication')
  const { url } = await startServer()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  // both are checked before the port opens: this address cannot be bound here
  const listen = (options: Partial<ServerOptions>): Promise<unknown> =>
    createServer({ apps, ...options }).listen({ port: 0, host: '192.0.2.1' })
  await expect(listen({ authenticate: () => undefined })).rejects.toThrow('EADDRNOTAVAIL')
  await expect(listen({ token: 'a-token-of-my-own' })).rejects.toThrow('EADDRNOTAVAIL')
  await expect(listen({ token: 'a-short-token' })).rejects.toThrow('`token` has 13 characters')
  await expect(listen({ allowUnauthenticatedRemote: true })).rejects.toThrow('EADDRNOTAVAIL')
})

test('refuses tokens that can be guessed and options that contradict each other', () => {
  expect(() => bearerTokens({ short: 'ada' })).toThrow('16 characters')
  expect(() => createServer({ apps, token: '' })).toThrow('8 or more characters')
  expect(() => createServer({ apps, token: 'a-token-of-my-own', authenticate: () => undefined })).toThrow('both')
  expect(() => createServer({ apps, allowedOrigin: [] } as never)).toThrow('Did you mean "allowedOrigins"?')
})
