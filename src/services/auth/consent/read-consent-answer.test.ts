import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { readConsentAnswer } from './read-consent-answer.ts'

const callback = 'https://app.example/callback?code=c0de&state=st4te&iss=https%3A%2F%2Fid.example'
const fromCallback = {
  code: 'c0de',
  state: 'st4te',
  iss: 'https://id.example',
  error: undefined,
  redirectUri: undefined,
}
const own = 'http://localhost:4200/dev-ui'

const plain: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['a callback URL', { authResponseUri: callback }, fromCallback],
  [
    'a callback URL with a redirect URI',
    { authResponseUri: callback, redirectUri: own },
    { ...fromCallback, redirectUri: own },
  ],
  [
    'code and state',
    { code: 'c0de', state: 'st4te', redirectUri: own },
    { ...fromCallback, iss: undefined, redirectUri: own },
  ],
  [
    'an AuthConfig with a callback URL',
    {
      authScheme: { type: 'oauth2', flows: {} },
      exchangedAuthCredential: {
        authType: 'oauth2',
        oauth2: { authResponseUri: callback, redirectUri: own, state: 'echo' },
      },
    },
    { ...fromCallback, redirectUri: own },
  ],
  [
    'an AuthConfig in snake case',
    {
      exchanged_auth_credential: {
        auth_type: 'oauth2',
        oauth2: { auth_response_uri: callback, redirect_uri: own },
      },
    },
    { ...fromCallback, redirectUri: own },
  ],
  [
    'an AuthConfig with a code',
    { exchangedAuthCredential: { oauth2: { authCode: 'c0de', state: 'st4te' } } },
    { ...fromCallback, iss: undefined },
  ],
  [
    'an AuthConfig with a code in snake case',
    { exchanged_auth_credential: { oauth2: { auth_code: 'c0de', state: 'st4te' } } },
    { ...fromCallback, iss: undefined },
  ],
  [
    'a callback URL with an error',
    { authResponseUri: 'https://app.example/?error=access_denied&state=st4te' },
    { code: undefined, state: 'st4te', iss: undefined, error: 'access_denied', redirectUri: undefined },
  ],
]

test.each(plain)('readConsentAnswer() reads %s', (_name, answer, expected) => {
  expect(readConsentAnswer(answer)).toEqual(expected)
})

test.each(plain)('readConsentAnswer() reads %s in wrappers and as JSON text', (_name, answer, expected) => {
  expect(readConsentAnswer({ response: answer })).toEqual(expected)
  expect(readConsentAnswer({ result: answer })).toEqual(expected)
  expect(readConsentAnswer({ result: JSON.stringify(answer) })).toEqual(expected)
  expect(readConsentAnswer({ response: JSON.stringify({ result: answer }) })).toEqual(expected)
})

test('readConsentAnswer() does not take the state beside a callback URL without one', () => {
  const answer = { authResponseUri: 'https://app.example/?code=c0de', state: 'echo' }
  expect(readConsentAnswer(answer)).toMatchObject({ code: 'c0de', state: undefined })
  expect(readConsentAnswer({ exchangedAuthCredential: { oauth2: answer } })).toMatchObject({ state: undefined })
})

test.each<readonly [string, JsonObject]>([
  ['an empty object', {}],
  ['a token', { exchangedAuthCredential: { oauth2: { accessToken: 't', state: 'st4te' } } }],
  ['a code that is no string', { code: { $ne: '' }, state: 'st4te' }],
  ['an empty code', { code: '', state: 'st4te' }],
  ['a text that is no URL', { authResponseUri: 'code=c0de&state=st4te' }],
  ['a URL without code and error', { authResponseUri: 'https://app.example/?state=st4te' }],
  ['a URL with two codes', { authResponseUri: 'https://app.example/?code=a&code=b&state=st4te' }],
  ['a URL with two states', { authResponseUri: 'https://app.example/?code=a&state=b&state=st4te' }],
  ['inherited members', Object.create({ code: 'c0de', state: 'st4te' }) as JsonObject],
  ['broken JSON', { result: '{"code":' }],
  ['a list', { result: [{ code: 'c0de', state: 'st4te' }] }],
  ['too many wrappers', { result: { result: { result: { result: { result: { code: 'c', state: 's' } } } } } }],
  ['a URL of 100 kB', { authResponseUri: `${callback}&x=${'x'.repeat(100_000)}` }],
  ['JSON text of 100 kB', { result: JSON.stringify({ code: 'c', state: 's', x: 'x'.repeat(100_000) }) }],
])('readConsentAnswer() refuses %s', (_name, answer) => {
  expect(readConsentAnswer(answer)).toBeUndefined()
})
