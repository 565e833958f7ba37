import { describe, expect, test } from 'vitest'
import type { AuthCredential } from '../../../core/content/auth.ts'
import { secretMask } from './request-secrets.ts'

const TOKEN = 'tok-1234567890abcdefghij'
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
const maskOf = (headers: Record<string, string>) => secretMask([], new Headers(headers))

describe('a secret of a header is hidden when the API repeats it without the rest of the header:', () => {
  test.each<[string, Record<string, string>, string]>([
    ['the token of a scheme', { Authorization: `Bearer ${TOKEN}` }, TOKEN],
    ['a token of 4 characters', { Authorization: 'Bearer a1b2' }, 'a1b2'],
    ['a token of 7 characters', { 'X-Token': 'Bearer abc1234' }, 'abc1234'],
    ['a quoted token', { Authorization: `Token token="${TOKEN}"` }, TOKEN],
    ['a quoted token of 7 characters', { Authorization: 'Token token="abc1234"' }, 'abc1234'],
    ['a quoted token with separators', { Authorization: 'Token token="one, two; three"' }, 'one, two; three'],
    ['a quoted token with a quote', { Authorization: 'Token token="one\\"two"' }, 'one"two'],
    ['one of several values', { Authorization: `MAC id="desk-1", mac="${TOKEN}", ts=1` }, TOKEN],
    ['a value without quotes', { Authorization: `HMAC user=ada,signature=${TOKEN}` }, TOKEN],
    ['a token with padding', { Authorization: 'Bearer dG9rZW4tMTIz==' }, 'dG9rZW4tMTIz'],
    ['the password of Basic', { Authorization: basic('ada:pass-word-12345') }, 'pass-word-12345'],
    ['a password with a colon', { Authorization: basic('ada:one:two') }, 'one:two'],
    ['a password with other letters', { 'Proxy-Authorization': basic('ada:pässwört') }, 'pässwört'],
    ['the user with a short password', { Authorization: basic('ada:pw') }, 'ada:pw'],
    ['Basic without padding', { Authorization: basic('ada:pass1').replace(/=+$/, '') }, 'pass1'],
    ['a cookie', { Cookie: `sid=${TOKEN}; theme=dark` }, TOKEN],
    ['a decoded cookie', { Cookie: 'sid=one%2Ftwo%3D3' }, 'one/two=3'],
  ])('%s', (_, headers, secret) => {
    expect(maskOf(headers).text(`bad <${secret}>`)).toBe('bad <[hidden]>')
    expect(maskOf(headers).isIn(new TextEncoder().encode(Buffer.from(secret).toString('base64')))).toBe(true)
  })

  test('in headers of a credential, too', () => {
    const custom = { headers: { Authorization: `Token token="${TOKEN}"` } }
    const credential = { authType: 'custom', custom } as unknown as AuthCredential
    expect(secretMask([credential], new Headers()).text(TOKEN)).toBe('[hidden]')
  })
})

test.each<[string, Record<string, string>, string]>([
  ['the scheme', { Authorization: `Bearer ${TOKEN}` }, 'Bearer tokens are needed'],
  ['a scheme of its own', { Authorization: `Custom-Scheme ${TOKEN}` }, 'Use Custom-Scheme'],
  ['the name of a value', { Authorization: `Token token="${TOKEN}"` }, 'The token is wrong'],
  ['a short part', { Cookie: `sid=${TOKEN}; theme=dark` }, 'the dark theme'],
  ['the user of Basic', { Authorization: basic('augusta:pass-word-12345') }, 'Hello augusta'],
  ['a header that is no secret', { 'X-Tenant': 'acme-shop' }, 'acme-shop'],
  ['a token of 3 characters', { Authorization: 'Bearer abc' }, 'abc'],
])('%s is shown', (_, headers, text) => {
  expect(maskOf(headers).text(text)).toBe(text)
})
