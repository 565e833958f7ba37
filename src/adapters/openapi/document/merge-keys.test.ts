import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { applyMergeKeys } from './merge-keys.ts'

test('adds the keys of other maps, the first ones first, and keeps the own ones', () => {
  const base = { a: 1, b: 1 }
  expect(applyMergeKeys([{ '<<': base, a: 2 }, { '<<': [{ b: 3 }, base] }])).toEqual([
    { a: 2, b: 1 },
    { b: 3, a: 1 },
  ])
  expect(base).toEqual({ a: 1, b: 1 })
})

test('merges each map once, so that 2^60 paths take no time', () => {
  let map: JsonObject = { a: 1 }
  for (let i = 0; i < 60; i++) map = { '<<': [map, map], [`b${i}`]: 1 }
  expect(Object.keys(applyMergeKeys(map) as JsonObject)).toHaveLength(61)
})

test('a key called __proto__ stays a key', () => {
  const merged = applyMergeKeys({ '<<': JSON.parse('{"__proto__":{"x":1}}') }) as JsonObject
  expect(Object.keys(merged)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
})

test('a value that is not a map stays as it is', () => {
  expect(applyMergeKeys({ '<<': 'x' })).toEqual({ '<<': 'x' })
})

test('refuses maps that merge themselves, and merges that copy too much', () => {
  const itself: JsonObject = {}
  itself['<<'] = itself
  expect(() => applyMergeKeys(itself)).toThrow('leads back to itself')
  const large = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))
  expect(() => applyMergeKeys(Array.from({ length: 60 }, () => ({ '<<': large })))).toThrow('copy too much')
})
