import { expect, test } from 'vitest'
import fc from './fast-check.test-kit.ts'
import { canonicalJson, copyJson, isRecord, jsonSize, MAX_DEPTH, setOwn } from './json.ts'

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

test('copyJson() copies a value without sharing any part', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const copy = copyJson(value)
      expect(copy).toEqual(value)
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value)
    }),
  )
})

test('copyJson() copies an own __proto__ as data', () => {
  const copy = copyJson(JSON.parse('{"__proto__":{"admin":true}}'))
  expect(Object.hasOwn(copy, '__proto__')).toBe(true)
  expect(copy.admin).toBeUndefined()
  const target = {}
  setOwn(target, '__proto__', 1)
  expect(Object.getOwnPropertyNames(target)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype)
})

test('copyJson() throws for a value that is nested too deeply', () => {
  expect(copyJson(nested(MAX_DEPTH + 1))).toEqual(nested(MAX_DEPTH + 1))
  expect(() => copyJson(nested(MAX_DEPTH + 2))).toThrow(`nested deeper than ${MAX_DEPTH} levels`)
  const loop: { self?: unknown } = {}
  loop.self = loop
  expect(() => copyJson(loop)).toThrow(RangeError)
})

test('canonicalJson() writes equal values as equal text, whatever the order of keys', () => {
  expect(canonicalJson({ b: [1, { d: 2, c: null }], a: 'x', u: undefined })).toBe('{"a":"x","b":[1,{"c":null,"d":2}]}')
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse())
      expect(canonicalJson(turned)).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

/** Equal as JSON: `-0` is 0 there, keys have no order, and letters are compared as they are. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [Object.keys(a), Object.keys(b)]
  const at = (value: object, key: string): unknown => Object.getOwnPropertyDescriptor(value, key)?.value
  return left.length === right.length && left.every((key) => Object.hasOwn(b, key) && isSame(at(a, key), at(b, key)))
}

/** The same value with the keys of every object in reverse order. */
function turned(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(turned)
  const made = {}
  for (const key of Object.keys(value).reverse())
    setOwn(made, key, turned(Object.getOwnPropertyDescriptor(value, key)?.value))
  return made
}

test('canonicalJson() writes the same text for two calls exactly when they are the same call [DG-13]', () => {
  const odd = fc.constantFrom(
    '',
    'a',
    'A',
    '\n',
    '\0',
    '"',
    '\\',
    '","',
    '\u00e9',
    'e\u0301',
    '\ud800',
    '\udc00',
    '\\ud800',
    '__proto__',
    '1',
  )
  const text = fc.oneof(
    odd,
    fc.tuple(odd, odd).map(([one, two]) => one + two),
  )
  const number = fc.constantFrom(0, -0, 1, 1.0, 1e21, 1e-7, 2 ** 53, 2 ** 53 + 2, 0.1, 0.1 + 0.2 - 0.2, -1)
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 2 }, text, number, fc.constantFrom(null, true, false), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 2 }),
    object: fc.array(fc.tuple(text, tie('value')), { maxLength: 2 }).map((entries) => {
      const made = {}
      for (const [key, one] of entries) setOwn(made, key, one)
      return made
    }),
  }))
  const often = fc.oneof({ arbitrary: fc.constant('a'), weight: 9 }, text) // most differ in their arguments only
  const call = fc.tuple(often, often, value) // id, name, arguments
  fc.assert(
    fc.property(fc.array(call, { minLength: 15, maxLength: 15 }), (some) => {
      const calls = [...some, ...some.map(turned)]
      const texts = calls.map((one) => canonicalJson(one))
      for (let a = 0; a < calls.length; a++)
        for (let b = 0; b < a; b++)
          if ((texts[a] === texts[b]) !== isSame(calls[a], calls[b])) throw new Error(`${texts[a]} and ${texts[b]}`)
    }),
    { numRuns: 250 }, // 435 pairs each
  )
})

test('canonicalJson() cuts a value at the maximum depth', () => {
  expect(canonicalJson(nested(50_000))).toContain('[too deep]')
  expect(canonicalJson(nested(MAX_DEPTH))).not.toContain('[too deep]')
})

test('isRecord() accepts objects but no arrays', () => {
  expect([{}, Object.create(null), new Map()].map(isRecord)).toEqual([true, true, true])
  expect([null, undefined, [], 'a', 1].map(isRecord)).toEqual([false, false, false, false, false])
})

test('jsonSize() is close to the size of the JSON text and stops at the limit', () => {
  const value = { name: 'Ada', list: [1.5, true, null, 'text'], nested: { deep: ['x'.repeat(1_000)] } }
  const bytes = JSON.stringify(value).length
  expect(jsonSize(value, 10_000)).toBeGreaterThan(0.9 * bytes)
  expect(jsonSize(value, 10_000)).toBeLessThan(1.2 * bytes)
  let doubling: object = {}
  for (let i = 0; i < 60; i++) doubling = [doubling, doubling]
  expect(jsonSize(doubling, 1_000)).toBeGreaterThan(1_000)
  expect(jsonSize(nested(10), 1_000_000, 9)).toBe(Number.POSITIVE_INFINITY)
  expect(jsonSize(nested(10), 1_000_000, 12)).toBeLessThan(1_000)
})
