// Where discovery may connect. The requests go to an injected fetch that counts them: nothing is ever connected.
import { describe, expect, test } from 'vitest'
import { FakeWeb, ISSUER, metadataOf, SERVER_URL } from './fake-web.test-kit.ts'

const HOSTILE = [
  'http://127.0.0.1:9/x',
  'https://127.0.0.1/x',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/x',
  'https://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://0x7f000001/x',
  'https://0177.1/x',
  'https://2130706433/x',
  'https://localhost/x',
  'https://localhost./x',
  'https://ⓛocalhost/x',
  'https://db.internal/x',
  'https://router/x',
  'http://auth.example.com/x',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'data:text/html,x',
  'https://user:password@auth.example.com/x',
  '\\\\host\\share',
]

/** Discovers with one hostile URL, and returns the hosts that were contacted and the error. */
async function attack(web: FakeWeb, challenge?: string): Promise<{ hosts: string[]; error: unknown }> {
  const error = await web.discover({ challenge }).then(
    () => 'accepted',
    (thrown: unknown) => thrown,
  )
  return { hosts: web.hosts(), error }
}

describe.each(HOSTILE)('%s is never contacted', (url) => {
  test('as the metadata of the resource', async () => {
    const web = new FakeWeb()
    const { hosts } = await attack(web, `Bearer resource_metadata="${url}"`)
    expect(hosts.every((host) => host.endsWith('.example.com'))).toBe(true)
    expect(web.sent.map((one) => one.url)).not.toContain(url)
  })

  test.each([
    ['authorization server', (web: FakeWeb) => Object.assign(web.resource, { authorization_servers: [url] })],
    ['authorization endpoint', (web: FakeWeb) => Object.assign(web.metadata, { authorization_endpoint: url })],
    ['token endpoint', (web: FakeWeb) => Object.assign(web.metadata, { token_endpoint: url })],
    ['registration endpoint', (web: FakeWeb) => Object.assign(web.metadata, { registration_endpoint: url })],
  ])('as the %s', async (_, change) => {
    const web = new FakeWeb()
    change(web)
    const { hosts, error } = await attack(web)
    expect(error).toMatchObject({ name: 'AuthError' })
    expect(hosts.every((host) => host.endsWith('.example.com'))).toBe(true)
    expect(web.sent.map((one) => one.url)).not.toContain(url)
  })
})

test('a public authorization server is contacted', async () => {
  const web = new FakeWeb()
  await web.discover()
  expect(web.hosts()).toEqual(['mcp.example.com', 'auth.example.com'])
})

test('allowPrivate accepts an authorization server in the network of the operator', async () => {
  const web = new FakeWeb({ resource: { authorization_servers: ['https://sso.corp'] } })
  web.addIssuer('https://sso.corp')
  await expect(web.discover()).rejects.toThrow('it names a private address. Set allowPrivateAuthorizationServer')
  expect((await web.discover({ allowPrivate: true })).authScheme).toMatchObject({ issuer: 'https://sso.corp' })
})

describe('an MCP server on this machine', () => {
  const serverUrl = new URL('http://127.0.0.1:8080/mcp')
  const localWeb = (issuer: string): FakeWeb => {
    const web = new FakeWeb()
    web.addIssuer(issuer)
    const page = { resource: serverUrl.href, authorization_servers: [issuer] }
    web.pages.set('http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp', page)
    return web
  }

  test('may use an authorization server on this machine', async () => {
    const config = await localWeb('http://localhost:9000').discover({ serverUrl })
    expect(config.authScheme).toMatchObject({ issuer: 'http://localhost:9000' })
  })

  test.each(['http://10.0.0.1', 'https://169.254.169.254', 'http://a.localhost'])('may not use %s', async (issuer) => {
    const web = localWeb(issuer)
    await expect(web.discover({ serverUrl })).rejects.toThrow('is refused')
    expect(web.hosts()).toEqual(['127.0.0.1'])
  })
})

describe('names', () => {
  const resolveTo =
    (addresses: Record<string, string[]>) =>
    async (host: string): Promise<string[]> =>
      addresses[host] ?? ['93.184.216.34']

  test('that resolve to a private address are not contacted', async () => {
    const web = new FakeWeb()
    const resolve = resolveTo({ 'auth.example.com': ['93.184.216.34', '10.0.0.7'] })
    await expect(web.discover({ resolve })).rejects.toThrow('it names a private address')
    expect(web.hosts()).toEqual(['mcp.example.com'])
  })

  test('of the token endpoint are resolved before the user is asked', async () => {
    const web = new FakeWeb({ metadata: { token_endpoint: 'https://inner.example.com/token' } })
    const resolve = resolveTo({ 'inner.example.com': ['::1'] })
    await expect(web.discover({ resolve })).rejects.toThrow('https://inner.example.com is refused')
  })

  test('are resolved before each request: a name that changes is refused', async () => {
    const web = new FakeWeb()
    let lookups = 0
    const resolve = async (host: string): Promise<string[]> =>
      host === 'auth.example.com' && ++lookups > 1 ? ['127.0.0.1'] : ['93.184.216.34']
    await expect(web.discover({ resolve })).rejects.toThrow('it names a private address')
    expect(web.countOf(`${ISSUER}/register`)).toBe(0)
  })

  test('that do not resolve are not contacted', async () => {
    const web = new FakeWeb()
    await expect(web.discover({ resolve: async () => [] })).rejects.toThrow('could not be resolved')
    expect(web.sent).toEqual([])
  })

  test('that resolve to public addresses are contacted', async () => {
    const web = new FakeWeb()
    await web.discover({ resolve: resolveTo({}) })
    expect(web.countOf(`${ISSUER}/register`)).toBe(1)
  })
})

describe('redirects are not followed', () => {
  const to = (status: number) => () => new Response(null, { status, headers: { location: 'https://10.0.0.1/x' } })

  test.each([301, 302, 303, 307, 308])('with status %s', async (status) => {
    for (const url of [
      'https://mcp.example.com/.well-known/oauth-protected-resource/mcp',
      `${ISSUER}/.well-known/oauth-authorization-server`,
      `${ISSUER}/register`,
    ]) {
      const web = new FakeWeb()
      web.pages.set(url, to(status))
      await expect(web.discover(), url).rejects.toThrow('redirects')
      expect(web.hosts()).not.toContain('10.0.0.1')
      expect(web.sent.every(({ init }) => init.redirect === 'manual')).toBe(true)
    }
  })
})

test('a response of more than 1 MiB is refused', async () => {
  const web = new FakeWeb()
  const metadata = metadataOf(ISSUER, { service_documentation: `https://x.example.com/${'x'.repeat(2 ** 20)}` })
  web.pages.set(`${ISSUER}/.well-known/oauth-authorization-server`, metadata)
  await expect(web.discover()).rejects.toThrow('sent more than 1048576 bytes')
})

test('errors name the origin of a URL, and not its path', async () => {
  const web = new FakeWeb({ resource: { authorization_servers: ['https://10.0.0.1/canary'] } })
  const { error } = await attack(web)
  expect(String(error)).toContain(new URL(SERVER_URL).origin)
  expect(String(error)).not.toContain('canary')
})
