import { expect, test } from 'vitest'
import { BoundedRecords } from './bounded-records.ts'

test('the oldest records are dropped when there are too many, or when they are too large together', () => {
  const records = new BoundedRecords<string>({ count: 3, characters: 100 })
  for (const key of ['a', 'b', 'c', 'd']) records.set(key, key, 10)
  records.set('b', 'changed', 10)
  records.set('e', 'e', 10)
  expect(['a', 'b', 'c', 'd', 'e'].map((key) => records.get(key))).toEqual([undefined, 'changed', undefined, 'd', 'e'])
  records.set('large', 'large', 90)
  expect(['b', 'd', 'e', 'large'].map((key) => records.get(key))).toEqual([undefined, undefined, undefined, 'large'])
  records.set('larger', 'larger', 1_000)
  expect(records.get('larger')).toBeUndefined()
})
