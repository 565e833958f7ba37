import { expect, test } from 'vitest'
import { checkSecret, openCall, sealCall } from './sealed-call.ts'

const SECRET = 'x'.repeat(32)
const TARGET = { service: 'toolwright-shop', key: '["ada","s1"]', handler: 'run' }
const NOW = 1_700_000_000_000
const DAY = 86_400_000

test('a call that is signed for a target opens there, with its input and its id', () => {
  const call = sealCall(SECRET, TARGET, { message: 'Pay.' }, NOW)
  const stored: unknown = JSON.parse(JSON.stringify(call))
  expect(openCall(SECRET, TARGET, stored, NOW + 7 * DAY)).toEqual({ id: call.id, input: { message: 'Pay.' } })
  expect(sealCall(SECRET, TARGET, { message: 'Pay.' }, NOW).id).not.toBe(call.id)
})

test('refuses a call whose signature has expired', () => {
  const call = sealCall(SECRET, TARGET, {}, NOW)
  expect(() => openCall(SECRET, TARGET, call, NOW + 7 * DAY + 1)).toThrow(
    expect.objectContaining({ code: 'EXPIRED', message: expect.stringContaining('Sign the call again.') }),
  )
})

test.each([
  ['another service', { service: 'toolwright-bank' }],
  ['another session', { key: '["bob","s1"]' }],
  ['another handler', { handler: 'cancel' }],
  ['parts that are divided in another way', { service: 'toolwright-shop","["ada', key: 's1"]' }],
])('refuses a call that is signed for %s', (_what, other) => {
  const call = sealCall(SECRET, { ...TARGET, ...other }, {}, NOW)
  expect(() => openCall(SECRET, TARGET, call, NOW)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
})

test.each([
  ['input', { body: '{"message":"Steal."}' }],
  ['id', { id: 'another' }],
  ['end', { expires: NOW + 700 * DAY }],
  ['signature', { signature: 'A'.repeat(43) }],
  ['signature of another length', { signature: '' }],
  ['signature of another type', { signature: 1 }],
  ['end of another type', { expires: String(NOW) }],
  ['body of another type', { body: { message: 'Pay.' } }],
  ['missing id', { id: undefined }],
])('refuses a call with a changed %s', (_what, change) => {
  const call = { ...sealCall(SECRET, TARGET, { message: 'Pay.' }, NOW), ...change }
  expect(() => openCall(SECRET, TARGET, call, NOW)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
})

test('refuses a call that is signed with another secret', () => {
  const call = sealCall('y'.repeat(32), TARGET, {}, NOW)
  expect(() => openCall(SECRET, TARGET, call, NOW)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
})

test.each([[undefined], [null], ['text'], [1], [[]], [{}], [{ message: 'Pay.' }]])(
  'refuses a call without a signature: %j',
  (call) => {
    expect(() => openCall(SECRET, TARGET, call, NOW)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
  },
)

test('no error names the secret or the input', () => {
  const call = { ...sealCall(SECRET, TARGET, { message: 'private' }, NOW), signature: 'A' }
  expect(() => openCall(SECRET, TARGET, call, NOW)).toThrow(expect.not.stringMatching(/private|xxxx/))
})

test('refuses a secret that can be guessed, and takes one of 32 characters', () => {
  for (const secret of ['', 'x'.repeat(31), undefined, 12345678901234567890123456789012n])
    expect(() => checkSecret(secret)).toThrow(/`secret` must have at least 32 characters.*openssl rand -hex 32/)
  checkSecret(SECRET)
})
