import { expect, test } from 'vitest'
import fc from '../../../core/base/fast-check.test-kit.ts'
import { canonicalJson } from '../../../core/base/json.ts'
import { isSameJson } from './is-same-json.ts'

test.each([
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { b: 1 }],
  [{ toString: 1 }, {}],
  [[1], [1, 2]],
  [[], {}],
  [{}, []],
  [{ 0: 1 }, [1]],
  [null, {}],
  [0, false],
  ['1', 1],
])('%j and %j are different', (a, b) => expect([isSameJson(a, b), isSameJson(b, a)]).toEqual([false, false]))

test('two random values are the same if their canonical JSON is', () => {
  const value = fc.jsonValue({ maxDepth: 2, noUnicodeString: true })
  const similar = fc.oneof(
    fc.tuple(value, value),
    value.map((one) => [one, JSON.parse(JSON.stringify(one))]),
    fc.tuple(...Array(2).fill(fc.dictionary(fc.constantFrom('a', 'b'), fc.array(fc.nat(1), { maxLength: 1 })))),
  )
  fc.assert(fc.property(similar, ([a, b]) => isSameJson(a, b) === (canonicalJson(a) === canonicalJson(b))))
})
