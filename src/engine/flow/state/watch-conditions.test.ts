import { describe, expect, test } from 'vitest'
import { thrownBy } from './state.test-kit.ts'
import {
  becameFalse,
  becameTrue,
  changed,
  changedFrom,
  changedTo,
  crossedAbove,
  crossedBelow,
  type WatchCondition,
} from './watch-conditions.ts'

const cases: [name: string, on: WatchCondition, before: unknown, after: unknown, holds: boolean][] = [
  ['changed', changed(), 1, 2, true],
  ['changed', changed(), undefined, 0, true],
  ['changed', changed(), 0, undefined, true],
  ['changed', changed(), { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, false],
  ['changed', changed(), undefined, null, false],
  ['changedTo(2)', changedTo(2), 1, 2, true],
  ['changedTo(2)', changedTo(2), 2, 2, false],
  ['changedTo(2)', changedTo(2), 1, '2', false],
  ['changedTo an object', changedTo({ a: [1], b: undefined }), undefined, { a: [1] }, true],
  ['changedTo an object', changedTo({ a: [1] }), { a: [1] }, { a: [1] }, false],
  ['changedTo an object', changedTo({ a: 1 }), undefined, { a: 1, b: 2 }, false],
  ['changedTo an object', changedTo({ a: 1, b: 2 }), undefined, { b: 2, a: 1 }, true],
  ['changedTo a list', changedTo([1, 2]), undefined, [2, 1], false],
  ['changedTo(undefined)', changedTo(undefined), 1, undefined, true],
  ['changedFrom(1)', changedFrom(1), 1, 2, true],
  ['changedFrom(1)', changedFrom(1), 1, undefined, true],
  ['changedFrom(1)', changedFrom(1), 2, 1, false],
  ['changedFrom a list', changedFrom([1]), [1], [1, 2], true],
  ['changedFrom(null)', changedFrom(null), undefined, 1, true],
  ['crossedAbove(10)', crossedAbove(10), 9, 10, true],
  ['crossedAbove(10)', crossedAbove(10), 9, 50, true],
  ['crossedAbove(10)', crossedAbove(10), 10, 11, false],
  ['crossedAbove(10)', crossedAbove(10), 11, 9, false],
  ['crossedAbove(10)', crossedAbove(10), undefined, 11, false],
  ['crossedAbove(10)', crossedAbove(10), null, 11, false],
  ['crossedAbove(10)', crossedAbove(10), '9', 11, false],
  ['crossedAbove(10)', crossedAbove(10), 9, '11', false],
  ['crossedBelow(10)', crossedBelow(10), 10, 9, true],
  ['crossedBelow(10)', crossedBelow(10), 11, 10, false],
  ['crossedBelow(10)', crossedBelow(10), 9, 8, false],
  ['crossedBelow(10)', crossedBelow(10), 11, undefined, false],
  ['crossedBelow(10)', crossedBelow(10), 11, null, false],
  ['becameTrue', becameTrue(), undefined, true, true],
  ['becameTrue', becameTrue(), 1, true, true],
  ['becameTrue', becameTrue(), true, true, false],
  ['becameTrue', becameTrue(), false, 1, false],
  ['becameTrue', becameTrue(), false, 'true', false],
  ['becameFalse', becameFalse(), true, false, true],
  ['becameFalse', becameFalse(), true, undefined, true],
  ['becameFalse', becameFalse(), true, 1, true],
  ['becameFalse', becameFalse(), undefined, false, false],
]

describe('the watcher condition', () => {
  test.each(cases.map(([name, on, before, after, holds]) => ({ name, on, before, after, holds })))(
    '$name from $before to $after is $holds',
    ({ on, before, after, holds }) => expect(on(before, after)).toBe(holds),
  )
  test('changedTo() does not follow later changes of the object it was given', () => {
    const expected = { a: 1 }
    const on = changedTo(expected)
    expected.a = 2
    expect(on(undefined, { a: 1 })).toBe(true)
  })
  test.each([Number.NaN, Number.POSITIVE_INFINITY, '10', undefined])(
    'crossedAbove() and crossedBelow() refuse %s',
    (threshold) => {
      for (const crossed of [crossedAbove, crossedBelow])
        expect(thrownBy(() => crossed(threshold as number))).toMatchObject({
          code: 'INVALID_CONFIG',
          message: expect.stringContaining('takes a finite number'),
        })
    },
  )
})
