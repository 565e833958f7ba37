import { expect, test } from 'vitest'
import { isUserFilename, scopeOfKey, withoutUserPrefix } from './key-scope.ts'

test.each([
  ['color', 'session'],
  ['app:news', 'app'],
  ['user:name', 'user'],
  ['temp:step', 'temp'],
  ['users', 'session'],
  ['APP:news', 'session'],
  ['x user:name', 'session'],
  ['', 'session'],
])('state key "%s" belongs to the scope "%s"', (key, scope) => {
  expect(scopeOfKey(key)).toBe(scope)
})

test('a filename with the prefix "user:" belongs to the user', () => {
  expect(['user:me.png', 'me.png', 'app:me.png'].map(isUserFilename)).toEqual([true, false, false])
  expect(['user:me.png', 'me.png', 'user:user:me.png'].map(withoutUserPrefix)).toEqual([
    'me.png',
    'me.png',
    'user:me.png',
  ])
})
