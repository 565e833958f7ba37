import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AuthCredential, AuthScheme } from '../../core/content/auth.ts'
import { applyCredential } from './apply-credential.ts'

const ORIGIN = 'https://api.example.com'
const key = (place: 'header' | 'query' | 'cookie', name = 'key'): AuthScheme => ({ type: 'apiKey', in: place, name })
const apiKey = (apiKey: string): AuthCredential => ({ authType: 'apiKey', apiKey })
const user = (username: string, password: string): AuthCredential => ({
  authType: 'http',
  http: { scheme: 'basic', credentials: { username, password } },
})
const BASIC: AuthScheme = { type: 'http', scheme: 'basic' }
const BEARER: AuthScheme = { type: 'http', scheme: 'bearer' }
const OAUTH2: AuthScheme = { type: 'oauth2', flows: {} }
const CUSTOM: AuthScheme = { type: 'custom', name: 'hmac' }
const tokens = (oauth2: NonNullable<AuthCredential['oauth2']>): AuthCredential => ({ authType: 'oauth2', oauth2 })
const headers = (headers: object): AuthCredential => ({ authType: 'custom', custom: { headers } })

const apply = (authScheme: AuthScheme, credential: AuthCredential, request = new Request(`${ORIGIN}/mail`)): Request =>
  applyCredential(request, { authScheme, credential, origin: ORIGIN })

describe('applyCredential() sets the header', () => {
  test.each<[string, AuthScheme, AuthCredential, string, string]>([
    ['of an API key', key('header', 'X-Key'), apiKey('k1'), 'x-key', 'k1'],
    [
      'of basic authentication, as UTF-8',
      BASIC,
      user('ädа', 'pä:ß'),
      'authorization',
      `Basic ${Buffer.from('ädа:pä:ß').toString('base64')}`,
    ],
    ['of an empty password', BASIC, user('ada', ''), 'authorization', 'Basic YWRhOg=='],
    [
      'of a bearer token',
      BEARER,
      { authType: 'http', http: { scheme: 'bearer', credentials: { token: 't1' } } },
      'authorization',
      'Bearer t1',
    ],
    ['of an access token', OAUTH2, tokens({ accessToken: 'a1', idToken: 'i1' }), 'authorization', 'Bearer a1'],
    ['of an id token', { type: 'serviceAccount' }, tokens({ idToken: 'i1' }), 'authorization', 'Bearer i1'],
    [
      'of an OpenID Connect token',
      { type: 'openIdConnect', openIdConnectUrl: ORIGIN },
      tokens({ accessToken: 'a1' }),
      'authorization',
      'Bearer a1',
    ],
    ['of a custom credential', CUSTOM, headers({ 'x-signature': 's1' }), 'x-signature', 's1'],
    ['of a custom user', CUSTOM, user('ada', 'p'), 'authorization', 'Basic YWRhOnA='],
  ])('%s', (_, scheme, credential, name, value) => {
    const request = apply(scheme, credential)
    expect(request.headers.get(name)).toBe(value)
    expect(request.url).toBe(`${ORIGIN}/mail`)
    expect(request.redirect).toBe('manual')
  })
})

test('applyCredential() replaces a header that the request already has', () => {
  const request = new Request(ORIGIN, { headers: { authorization: 'Bearer forged', accept: 'text/plain' } })
  const applied = apply(OAUTH2, tokens({ accessToken: 'a1' }), request)
  expect(Object.fromEntries(applied.headers)).toEqual({ authorization: 'Bearer a1', accept: 'text/plain' })
})

test('applyCredential() sets a query parameter and keeps the encoding of the others', () => {
  const credential = apiKey('a&b=c')
  expect(apply(key('query'), credential).url).toBe(`${ORIGIN}/mail?key=a%26b%3Dc`)
  const encoded = new Request(`${ORIGIN}/mail?q=a%20b`)
  expect(apply(key('query'), credential, encoded).url).toBe(`${ORIGIN}/mail?q=a%20b&key=a%26b%3Dc`)
  const forged = new Request(`${ORIGIN}/mail?key=forged&q=a%20b&ke%79=forged`)
  expect(apply(key('query'), credential, forged).url).toBe(`${ORIGIN}/mail?q=a%20b&key=a%26b%3Dc`)
})

test('applyCredential() adds a cookie and replaces one of the same name', () => {
  const request = new Request(ORIGIN, { headers: { cookie: 'key=forged; lang=de' } })
  expect(apply(key('cookie'), apiKey('k1')).headers.get('cookie')).toBe('key=k1')
  expect(apply(key('cookie'), apiKey('k1'), request).headers.get('cookie')).toBe('lang=de; key=k1')
})

test.each<'header' | 'query' | 'cookie'>(['header', 'query', 'cookie'])(
  'applyCredential() keeps method, body, headers and signal with a key in the %s',
  async (place) => {
    const received = new Promise<string>((resolve) => {
      const server = createServer(async (request, response) => {
        const body = Buffer.concat(await request.toArray()).toString()
        response.writeHead(302, { location: '/other' }).end()
        resolve([request.method, request.url, body, request.headers['content-type'], request.headers.cookie].join())
      }).listen(0, '127.0.0.1', () => started(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
      onTestFinished(() => void server.close())
    })
    let started: (origin: string) => void = () => {}
    const origin = await new Promise<string>((resolve) => {
      started = resolve
    })
    const stop = new AbortController()
    const init = {
      method: 'PUT',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
      signal: stop.signal,
    }
    const request = applyCredential(new Request(`${origin}/x`, init), {
      authScheme: key(place),
      credential: apiKey('k1'),
      origin,
    })
    expect((await fetch(request)).status, 'the redirect is not followed').toBe(302)
    const [path, cookie] = [place === 'query' ? '/x?key=k1' : '/x', place === 'cookie' ? 'key=k1' : '']
    expect(await received).toBe(['PUT', path, '{"a":1}', 'application/json', cookie].join())
    stop.abort()
    expect(request.signal.aborted).toBe(true)
  },
)

describe('applyCredential() refuses', () => {
  test.each<[string, string, string]>([
    ['another host', 'https://api.example.com.attacker.example/', ORIGIN],
    ['another port', 'https://api.example.com:8443/', ORIGIN],
    ['another protocol', 'http://api.example.com/', ORIGIN],
    ['an invalid origin', ORIGIN, 'api.example.com'],
    ['an opaque origin', 'data:text/plain,a', 'data:text/plain,b'],
  ])('%s', (_, url, origin) => {
    const send = (): Request =>
      applyCredential(new Request(url), { authScheme: key('query'), credential: apiKey('canary'), origin })
    expect(send).toThrow(expect.objectContaining({ name: 'ToolwrightError', code: 'INVALID_REQUEST' }))
    expect(send).toThrow(/^The credential belongs to .* and is not sent to /)
    expect(send).not.toThrow('canary')
  })

  test.each<[string, AuthScheme, AuthCredential, string]>([
    ['a line break in a key', key('header'), apiKey('canary\r\nx: y'), 'a line break'],
    ['a line break in a token', OAUTH2, tokens({ accessToken: 'canary\n' }), 'a line break'],
    ['a key outside of ASCII', key('header'), apiKey('canary\u{1f511}'), 'outside of ASCII'],
    ['a line break in a custom header', CUSTOM, headers({ a: 'canary\n' }), 'a line break'],
    ['a custom header that routes the request', CUSTOM, headers({ Host: 'canary' }), 'reserved'],
    ['a custom header without a valid name', CUSTOM, headers({ 'canary\n': 'a' }), 'not valid'],
    ['a cookie that adds another cookie', key('cookie'), apiKey('canary; admin=1'), 'a semicolon'],
    [
      'a cookie whose name adds another cookie',
      { type: 'apiKey', in: 'cookie', name: 'a=1; b' },
      apiKey('canary'),
      'not valid',
    ],
    ['a user name with a colon', BASIC, user('canary:x', 'y'), 'a colon in the user name'],
    ['a password with a line break', BASIC, user('canary', 'y\n'), 'control characters'],
    ['a scheme whose key is missing', key('header'), tokens({ accessToken: 'canary' }), 'has no apiKey'],
    ['a scheme whose token is missing', OAUTH2, tokens({ refreshToken: 'canary' }), 'has no token'],
    ['a scheme whose user is missing', BASIC, apiKey('canary'), 'has no username and password'],
  ])('%s', (_, scheme, credential, message) => {
    let thrown: unknown
    try {
      apply(scheme, credential)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringContaining(message) })
    expect(inspect(thrown, { depth: 10 })).not.toContain('canary')
  })
})
