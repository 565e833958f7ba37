import { expect, test } from 'vitest'
import { SmallMap } from './small-map.ts'

test('holds one, several, and what replaces them, in the order they came', () => {
  const few = new SmallMap<number>()
  expect([few.size, few.get('a'), few.has('a'), few.all()]).toEqual([0, undefined, false, []])
  few.set('a', 1)
  expect([few.size, few.get('a'), few.has('b'), few.all()]).toEqual([1, 1, false, [1]])
  few.set('b', 2)
  few.set('c', 3)
  few.set('a', 4)
  few.set('b', 5)
  expect([few.size, few.get('a'), few.get('b'), few.has('c'), few.all()]).toEqual([3, 4, 5, true, [4, 5, 3]])
})

test.each(['__proto__', 'constructor', 'toString', ''])('%j is a key like any other', (key) => {
  const few = new SmallMap<number>()
  expect(few.has(key)).toBe(false)
  few.set('x', 0)
  expect(few.get(key)).toBeUndefined()
  few.set(key, 1)
  expect(few.get(key)).toBe(1)
})
