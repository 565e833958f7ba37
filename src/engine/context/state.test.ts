import { expect, test } from 'vitest'
import { readonlyState, WritableState } from './state.ts'

const reader = (values: { [key: string]: unknown }) => ({
  get: (key: string) => (Object.hasOwn(values, key) ? values[key] : undefined),
  keys: () => Object.keys(values),
})

test('readonlyState returns copies and fallbacks', () => {
  const stored = { list: [1], zero: 0 }
  const state = readonlyState(reader(stored))
  state.get<number[]>('list')?.push(2)
  expect(state.get('list')).toEqual([1])
  expect([state.get('zero', 5), state.get('none', 5), state.get('none')]).toEqual([0, 5, undefined])
  expect([state.has('zero'), state.has('toString')]).toEqual([true, false])
  expect(state.keys()).toEqual(['list', 'zero'])
})

test('WritableState reads its own writes first and returns them once', () => {
  const state = new WritableState(reader({ a: 1, b: 2 }))
  state.set('a', 3)
  state.delete('b')
  state.set('c', 4)
  expect(state.keys()).toEqual(['a', 'c'])
  expect(state.takeDelta()).toEqual({ a: 3, b: null, c: 4 })
  expect(state.takeDelta()).toBeUndefined()
  expect(state.get('a')).toBe(1)
})

test('WritableState accepts names of Object.prototype members as keys', () => {
  const state = new WritableState(reader({}))
  for (const key of ['__proto__', 'constructor', 'hasOwnProperty']) state.set(key, key)
  expect(state.get('__proto__')).toBe('__proto__')
  expect(Object.getOwnPropertyNames(state.takeDelta())).toEqual(['__proto__', 'constructor', 'hasOwnProperty'])
})
