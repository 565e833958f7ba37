import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, copyJson, isRecord, MAX_DEPTH, setOwn } from './json.ts'

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

test('a copy is equal and shares nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const copy = copyJson(value)
      expect(copy).toEqual(value)
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value)
    }),
  )
})

test('an own __proto__ stays data', () => {
  const copy = copyJson(JSON.parse('{"__proto__":{"admin":true}}'))
  expect(Object.hasOwn(copy, '__proto__')).toBe(true)
  expect(copy.admin).toBeUndefined()
  const target = {}
  setOwn(target, '__proto__', 1)
  expect(Object.getOwnPropertyNames(target)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(target)).toBe(Object.prototype)
})

test('a copy goes so deep and no deeper', () => {
  expect(copyJson(nested(MAX_DEPTH + 1))).toEqual(nested(MAX_DEPTH + 1))
  expect(() => copyJson(nested(MAX_DEPTH + 2))).toThrow(`nested deeper than ${MAX_DEPTH} levels`)
  const loop: { self?: unknown } = {}
  loop.self = loop
  expect(() => copyJson(loop)).toThrow(RangeError)
})

test('equal values have equal canonical text, whatever the order of keys', () => {
  expect(canonicalJson({ b: [1, { d: 2, c: null }], a: 'x', u: undefined })).toBe('{"a":"x","b":[1,{"c":null,"d":2}]}')
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse())
      expect(canonicalJson(turned)).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('canonical text of what is nested too deep ends there', () => {
  expect(canonicalJson(nested(50_000))).toContain('[too deep]')
  expect(canonicalJson(nested(MAX_DEPTH))).not.toContain('[too deep]')
})

test('only objects that are no lists are records', () => {
  expect([{}, Object.create(null), new Map()].map(isRecord)).toEqual([true, true, true])
  expect([null, undefined, [], 'a', 1].map(isRecord)).toEqual([false, false, false, false, false])
})
