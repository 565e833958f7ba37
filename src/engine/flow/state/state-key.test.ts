import { expect, expectTypeOf, test } from 'vitest'
import { thrownBy, writableStateOf } from './state.test-kit.ts'
import { stateKey } from './state-key.ts'

test('a state key reads, writes and deletes its value with its type', () => {
  const cart = stateKey<{ items: string[] }>('user:cart')
  const state = writableStateOf()
  expect(cart.get(state)).toBeUndefined()
  cart.set(state, { items: ['tea'] })
  expect(state.get('user:cart')).toEqual({ items: ['tea'] })
  expectTypeOf(cart.get(state)).toEqualTypeOf<{ items: string[] } | undefined>()
  cart.delete(state)
  expect(state.has(cart.name)).toBe(false)
})

test('a state key without a name is refused', () => {
  expect(thrownBy(() => stateKey(''))).toMatchObject({ code: 'INVALID_CONFIG' })
})
