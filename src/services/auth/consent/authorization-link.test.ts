import { expect, test } from 'vitest'
import { loopbackAddress, readAuthorizationLink } from './authorization-link.ts'

test('readAuthorizationLink() reads the provider, the scopes, the state and the redirect URI', () => {
  const query = 'scope=mail+offline_access%2Ccalendar&state=s1&redirect_uri=http%3A%2F%2F127.0.0.1%3A9999%2Fcb'
  expect(readAuthorizationLink(`https://auth.example/login?${query}`)).toEqual({
    href: `https://auth.example/login?${query}`,
    origin: 'https://auth.example',
    scopes: ['mail', 'offline_access', 'calendar'],
    state: 's1',
    redirectUri: 'http://127.0.0.1:9999/cb',
  })
})

test.each([
  undefined,
  'file:///etc/passwd?state=s1',
  'javascript:alert(1)?state=s1',
  'http://auth.example/?state=s1',
  'https://user:password@auth.example/?state=s1',
  'https://auth.example/login',
])('readAuthorizationLink() rejects %j', (authUri) => {
  expect(readAuthorizationLink(authUri)).toBeUndefined()
})

test('readAuthorizationLink() encodes characters that could control the terminal', () => {
  const { href = '' } = readAuthorizationLink('https://auth.example/a\u001b[2J\u202e?state=s1&x=\u001b') ?? {}
  expect(href).toMatch(/^[!-~]+$/)
})

test.each([
  ['http://127.0.0.1:9999/cb', '127.0.0.1', 9999],
  ['http://localhost:8080/', 'localhost', 8080],
  ['http://[::1]:9999/cb', '::1', 9999],
  ['http://localhost/cb', 'localhost', 80],
])('loopbackAddress() reads %s', (redirectUri, host, port) => {
  expect(loopbackAddress(redirectUri)).toMatchObject({ host, port })
})

test.each([
  undefined,
  'not a URL',
  'https://127.0.0.1:9999/cb',
  'http://192.168.0.1:9999/cb',
  'http://127.0.0.1.evil.example/cb',
  'http://0.0.0.0:9999/cb',
  'http://127.0.0.1:0/cb',
  'com.example.app:/cb',
])('loopbackAddress() rejects %j', (redirectUri) => {
  expect(loopbackAddress(redirectUri)).toBeUndefined()
})
