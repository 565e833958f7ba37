import { expect, test } from 'vitest'
import { maskSecrets, secretsOf } from './mask-secrets.ts'

test('hides secrets in texts, keys and lists', () => {
  const value = { 'key abcdefgh': ['x abcdefgh y', { deep: 'abcdefgh' }], number: 5, none: null }
  expect(maskSecrets(value, ['abcdefgh'])).toEqual({
    'key [hidden]': ['x [hidden] y', { deep: '[hidden]' }],
    number: 5,
    none: null,
  })
})

test('keeps a value without secrets, and does not take short values for secrets', () => {
  const value = { text: 'abc' }
  expect(maskSecrets(value, [])).toBe(value)
  expect(maskSecrets(value, ['abc'])).toBe(value)
})

test('finds the token behind Bearer', () => {
  const secrets = secretsOf({ authorization: 'Bearer abcdefgh' })
  expect(maskSecrets('token abcdefgh', secrets)).toBe('token [hidden]')
})

test('a key called __proto__ stays a key', () => {
  const value = JSON.parse('{"__proto__":{"polluted":"abcdefgh"}}')
  const masked = maskSecrets(value, ['abcdefgh'])
  expect(Object.keys(masked)).toEqual(['__proto__'])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test('refuses a value that is nested too deeply', () => {
  let value: unknown = 'abcdefgh'
  for (let level = 0; level < 100_000; level++) value = [value]
  expect(() => maskSecrets(value, ['abcdefgh'])).toThrow('nested deeper than')
})

test('hides the token of a header also encoded, and leaves short values', () => {
  const secrets = secretsOf({ authorization: 'Bearer canary-token', 'x-region': 'eu' })
  const encoded = Buffer.from('canary-token').toString('base64')
  const result = { text: 'Got Bearer canary-token.', list: [encoded], region: 'eu' }
  expect(maskSecrets(result, secrets)).toEqual({ text: 'Got [hidden].', list: ['[hidden]'], region: 'eu' })
})
