import { expect, test } from 'vitest'
import type { AuthConfig, AuthCredential } from '../../../core/content/auth.ts'
import { headersOf, tokenOf } from './auth-headers.ts'

const apiKey: AuthCredential = { authType: 'apiKey', apiKey: 'k1' }
const keyIn = (place: 'header' | 'query' | 'cookie'): AuthConfig => ({
  authScheme: { type: 'apiKey', in: place, name: 'x-key' },
  rawAuthCredential: apiKey,
})
const httpOf = (scheme: 'basic' | 'bearer', credentials: NonNullable<AuthCredential['http']>['credentials']) => {
  const rawAuthCredential = { authType: 'http', http: { scheme, credentials } }
  return [{ authScheme: { type: 'http', scheme }, rawAuthCredential } as const, rawAuthCredential] as const
}

test('headersOf() returns the header of each scheme', () => {
  expect(headersOf(keyIn('header'), apiKey)).toEqual({ 'x-key': 'k1' })
  expect(headersOf(keyIn('cookie'), apiKey)).toEqual({ cookie: 'x-key=k1' })
  expect(headersOf(...httpOf('bearer', { token: 't' }))).toEqual({ authorization: 'Bearer t' })
  expect(headersOf(...httpOf('basic', { username: 'ada', password: 'p' }))).toEqual({ authorization: 'Basic YWRhOnA=' })
})

test('headersOf() refuses a value that cannot be a header', () => {
  expect(() => headersOf(keyIn('header'), { authType: 'apiKey', apiKey: 'a\r\nb' })).toThrow('contains a line break')
})

test('headersOf() returns no header for a key in the query', () => {
  expect(headersOf(keyIn('query'), apiKey)).toEqual({})
})

test('tokenOf() returns the bearer token', () => {
  expect(tokenOf({ authType: 'oauth2', oauth2: { accessToken: 't' } })).toBe('t')
  expect(tokenOf(httpOf('bearer', { token: 'u' })[1])).toBe('u')
  expect(tokenOf(apiKey)).toBeUndefined()
})
