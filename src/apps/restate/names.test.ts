import { expect, test } from 'vitest'
import { keyOfSession, sessionOfKey, sessionServiceOf, sweepServiceOf } from './names.ts'

const ids = [
  'ada',
  's1',
  '',
  'a"b',
  'a,b',
  '["a","b"]',
  'a\\',
  'ü',
  '\u0000',
  '\ud800',
  '😀',
  '../x',
  'a/b?c#d',
  '__proto__',
]

test('a key names its session, whatever characters the ids contain, and no two sessions have one key', () => {
  const keys = new Set<string>()
  for (const userId of ids) {
    for (const sessionId of ids) {
      const key = keyOfSession({ userId, sessionId })
      expect(sessionOfKey(key)).toEqual({ userId, sessionId })
      expect(encodeURIComponent(key)).not.toBe('') // throws for half a character
      keys.add(key)
    }
  }
  expect(keys.size).toBe(ids.length ** 2)
})

test.each([
  ['no JSON', 'ada'],
  ['no list', '{"0":"ada","1":"s1"}'],
  ['one id', '["ada"]'],
  ['three ids', '["ada","s1","s2"]'],
  ['a number', '["ada",1]'],
  ['a second spelling of a session', '["ada", "s1"]'],
  ['an escape that is not needed', '["\\u0061da","s1"]'],
  ['the key of the sweep', 'app'],
  ['nothing', ''],
])('a key with %s names no session', (_what, key) => {
  expect(sessionOfKey(key)).toBeUndefined()
})

test('an app has services of its own, with characters that Restate allows', () => {
  const apps = [
    'shop',
    'Shop',
    'shop-1',
    'shop.sweep',
    'shop_sweep',
    'shop_2esweep',
    'a b',
    'ä',
    '"',
    '\\',
    '\ud800',
    '😀',
  ]
  const services = apps.flatMap((app) => [sessionServiceOf(app), sweepServiceOf(app)])
  expect(new Set(services).size).toBe(2 * apps.length)
  for (const service of services) expect(service).toMatch(/^[A-Za-z][A-Za-z0-9._-]*$/)
  expect(services.slice(0, 2)).toEqual(['toolwright-shop', 'toolwright-shop.sweep'])
})
