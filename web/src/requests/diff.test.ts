import { expect, test } from 'vitest'
import { differences, MOST_DIFFERENCES } from './diff.ts'

test.each<[before: unknown, after: unknown, paths: string[]]>([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1, b: 2 }, { b: 3, c: 4 }, ['a', 'b', 'c']],
  [{ a: [1, { b: 2 }] }, { a: [1, { b: 3 }, 4] }, ['a[1].b', 'a[2]']],
  [{ a: '1' }, { a: 1 }, ['a']],
  [{}, { constructor: 1 }, ['constructor']],
  [[1], { 0: 1 }, ['']],
])('between %j and %j', (before, after, paths) => {
  expect(differences(before, after).map(({ path }) => path)).toEqual(paths)
})

test('stops after a bounded number', () => {
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [at, at]))
  expect(differences({}, many).length).toBe(MOST_DIFFERENCES + 1)
})
