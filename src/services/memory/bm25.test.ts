import { expect, test } from 'vitest'
import fc from '../../core/base/fast-check.test-kit.ts'
import { Bm25Index } from './bm25.ts'

test('Bm25Index scores a document by the BM25 formula', () => {
  const index = new Bm25Index()
  index.add(1, ['red', 'apple', 'red'])
  index.add(2, ['green', 'apple'])
  const scores = index.search(['red'])
  const rarity = Math.log(1 + 1.5 / 1.5)
  expect([...scores.keys()]).toEqual([1])
  expect(scores.get(1)).toBeCloseTo((rarity * 2 * 2.2) / (2 + 1.2 * (0.25 + (0.75 * 3) / 2.5)), 12)
})

test('Bm25Index counts a repeated query word once', () => {
  const index = new Bm25Index()
  index.add(1, ['red', 'apple'])
  expect(index.search(['red', 'red'])).toEqual(index.search(['red']))
})

test('Bm25Index ignores query words after the first thousand distinct ones', () => {
  const index = new Bm25Index()
  index.add(1, ['late'])
  const noise = (count: number) => Array.from({ length: count }, (_, n) => `noise${n}`)
  expect(index.search([...noise(999), 'late']).size).toBe(1)
  expect(index.search([...noise(1000), 'late']).size).toBe(0)
})

test('Bm25Index indexes words such as __proto__ and constructor', () => {
  const index = new Bm25Index()
  index.add(1, ['__proto__', 'constructor'])
  expect(index.search(['constructor']).size).toBe(1)
  expect(index.search(['toString']).size).toBe(0)
})

test('Bm25Index scores like a new index after any additions and removals', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd')
  const change = fc.record({ id: fc.integer({ min: 1, max: 5 }), words: fc.option(fc.array(word, { maxLength: 6 })) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.array(word), (changes, query) => {
      const grown = new Bm25Index()
      const left = new Map<number, string[]>()
      for (const { id, words } of changes) {
        if (words) {
          grown.add(id, words)
          left.set(id, words)
        } else {
          grown.remove(id)
          left.delete(id)
        }
      }
      const built = new Bm25Index()
      for (const [id, words] of left) built.add(id, words)
      expect(grown.size).toBe(left.size)
      expect(grown.search(query)).toEqual(built.search(query))
    }),
  )
})
