import { expect, test } from 'vitest'
import { MAX_DEPTH, TooDeepError } from './json.ts'
import { createSecretMask } from './secret-mask.ts'

const SECRET = 'canary/"secret" é'
const mask = createSecretMask([SECRET, 'abc'], { minLength: 4 })

test.each([
  ['as it is', SECRET],
  ['percent-encoded', encodeURIComponent(SECRET)],
  ['in a form', new URLSearchParams({ a: SECRET }).toString()],
  ['in JSON', JSON.stringify({ a: SECRET })],
  ['in base64', Buffer.from(SECRET).toString('base64')],
])('hides a secret %s', (_, text) => {
  const masked = mask.text(`before ${text} after`)
  expect(masked).toContain('[hidden]')
  expect(masked).toMatch(/^before .* after$/)
  expect(masked).not.toContain('canary')
})

test('hides a secret in keys and values, and leaves the rest', () => {
  const value = { [SECRET]: [1, null, { text: `x${SECRET}` }], other: 'abc' }
  expect(mask.value(value)).toEqual({ '[hidden]': [1, null, { text: 'x[hidden]' }], other: 'abc' })
})

test('a key __proto__ stays a key', () => {
  const value: unknown = JSON.parse('{"__proto__":{"a":1}}')
  expect(JSON.stringify(mask.value(value))).toBe('{"__proto__":{"a":1}}')
})

test('hides the longer of two secrets as a whole', () => {
  const both = createSecretMask(['token', 'token-of-ada'], { minLength: 4 })
  expect(both.text('token-of-ada token')).toBe('[hidden] [hidden]')
})

test('finds a secret in bytes', () => {
  const ascii = createSecretMask(['canary'], { minLength: 4 })
  expect(ascii.isIn(new Uint8Array([0, ...Buffer.from('canary'), 255]))).toBe(true)
  expect(ascii.isIn(new Uint8Array([0, ...Buffer.from('canar'), 255]))).toBe(false)
})

test('without secrets, a value stays the same object', () => {
  const value = { a: 'b' }
  expect(createSecretMask(['abc'], { minLength: 4 }).value(value)).toBe(value)
})

test('refuses a value that is nested too deeply', () => {
  let value: unknown = 1
  for (let depth = 0; depth <= MAX_DEPTH + 1; depth++) value = [value]
  expect(() => mask.value(value)).toThrow(TooDeepError)
})
