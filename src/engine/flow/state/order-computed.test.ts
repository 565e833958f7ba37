import { describe, expect, test } from 'vitest'
import { type ComputedValue, orderComputed } from './order-computed.ts'
import { thrownBy } from './state.test-kit.ts'

const computed = (key: string, ...from: string[]): ComputedValue => ({ key, from, compute: () => 1 })

describe('computed values are ordered', () => {
  test('so that each follows its dependencies, whatever the order of the list', () => {
    const list = [computed('c', 'derived:b', 'derived:a'), computed('b', 'derived:a'), computed('a', 'x')]
    expect(orderComputed(list).map((value) => value.computed.key)).toEqual(['a', 'b', 'c'])
  })
  test('with a bare name of another computed value as a dependency on it', () => {
    const [, total] = orderComputed([computed('total', 'net'), computed('net', 'price')])
    expect([...(total?.dependencies ?? [])]).toEqual(['net', 'derived:net'])
  })
  test('with a name of the prototype of objects as an ordinary key', () => {
    expect(orderComputed([computed('constructor', 'toString')])).toHaveLength(1)
  })
})

describe('the definition of computed values refuses', () => {
  test.each([
    [
      'a cycle, and names it',
      [computed('x', 'k'), computed('a', 'derived:b'), computed('b', 'c'), computed('c', 'a')],
      '"a" -> "b" -> "c" -> "a"',
    ],
    [
      'a cycle that does not contain the first value',
      [computed('a', 'b'), computed('b', 'c'), computed('c', 'b')],
      'cycle: "b" -> "c" -> "b".',
    ],
    [
      'a value that depends on itself',
      [computed('a', 'derived:a')],
      '"a" depends on itself: from contains "derived:a"',
    ],
    ['a value with the name of its own dependency', [computed('a', 'a')], '"a" depends on itself: from contains "a"'],
    ['a duplicate key', [computed('a', 'x'), computed('a', 'y')], 'Computed value "a" is defined twice.'],
    ['an empty from list', [computed('a')], 'Computed value "a": from is empty.'],
    ['a key with a prefix', [computed('derived:a', 'x')], 'key must not contain ":"'],
    [
      'an unknown derived key in from',
      [computed('total', 'x'), computed('b', 'derived:totl')],
      'Did you mean "derived:total"?',
    ],
    ['an empty name in from', [computed('a', '')], 'from must be a list of strings that are not empty'],
    ['a missing compute', [{ key: 'a', from: ['x'] }], 'computed[0]: compute is required.'],
    ['an unknown option', [{ ...computed('a', 'x'), depends: ['y'] }], 'unknown option "depends"'],
    ['a map instead of a list', { a: computed('a', 'x') }, 'computed must be a list'],
  ])('%s', (_, list, problem) => {
    const error = thrownBy(() => orderComputed(list as ComputedValue[]))
    expect(error).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(problem) })
  })
})
