import { expect, test } from 'vitest'
import { RequestStates } from './request-state.ts'

const binding = { appName: 'app', userId: 'ada', tool: 'charge', args: { amount: 5, to: 'bob' } }
const state = { sessionId: 's1', requests: { confirmation: 'r1' }, expiresAt: 2_000 }
const key = btoa('k'.repeat(32))

test('a state opens for the same call, in any process with the key', async () => {
  const sealed = await new RequestStates(key, () => 1_000).seal(state, binding)
  const reordered = { ...binding, args: { to: 'bob', amount: 5 } }
  expect(await new RequestStates(key, () => 1_000).open(sealed, reordered)).toEqual(state)
})

test.each([
  ['app', { appName: 'other' }],
  ['user', { userId: 'eve' }],
  ['tool', { tool: 'refund' }],
  ['arguments', { args: { amount: 6, to: 'bob' } }],
])('a state does not open for another %s', async (_, changed) => {
  const states = new RequestStates(key, () => 1_000)
  expect(await states.open(await states.seal(state, binding), { ...binding, ...changed })).toBeUndefined()
})

test('a state opens neither with another key nor after its end', async () => {
  const sealed = await new RequestStates(key, () => 1_000).seal(state, binding)
  expect(await new RequestStates(undefined, () => 1_000).open(sealed, binding)).toBeUndefined()
  expect(await new RequestStates(key, () => 2_000).open(sealed, binding)).toBeUndefined()
})

test('no changed byte of a state goes unnoticed', async () => {
  const states = new RequestStates(key, () => 1_000)
  const sealed = await states.seal(state, binding)
  for (let at = 0; at < sealed.length; at++) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`
    // the last characters may hold bits that base64 ignores
    if (atob(changed.replace(/=+$/, '')) !== atob(sealed.replace(/=+$/, '')))
      expect(await states.open(changed, binding)).toBeUndefined()
  }
  for (const text of ['', '=', 'not base64!', 'AAAA', 'x'.repeat(10_000)])
    expect(await states.open(text, binding)).toBeUndefined()
})
