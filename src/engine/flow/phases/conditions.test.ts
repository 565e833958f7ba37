import { describe, expect, test } from 'vitest'
import { keepReports, stateOf, thrownBy } from '../state/state.test-kit.ts'
import { StateMirror } from '../state/state-mirror.ts'
import { all, any, equals, isSet, isTrue, not, oneOf } from './conditions.ts'

const state = stateOf({
  yes: true,
  text: 'true',
  zero: 0,
  no: false,
  plan: { id: 1 },
  'derived:score': 5,
  'user:tier': 'gold',
})
const broken = (): boolean => {
  throw new Error('broken')
}

describe('the condition', () => {
  test.each([
    ['isTrue of true holds', isTrue('yes'), true],
    ['isTrue of a text does not hold', isTrue('text'), false],
    ['isTrue of an absent key does not hold', isTrue('none'), false],
    ['isSet of 0 holds', isSet('zero'), true],
    ['isSet of false holds', isSet('no'), true],
    ['isSet of an absent key does not hold', isSet('none'), false],
    ['isSet of a computed value by its bare key holds', isSet('score'), true],
    ['isSet of a computed value by its derived key holds', isSet('derived:score'), true],
    ['isSet of an absent key with a prefix does not hold', isSet('user:score'), false],
    ['equals of a computed value by its bare key holds', equals('score', 5), true],
    ['equals of an equal object holds', equals('plan', { id: 1 }), true],
    ['equals of another object does not hold', equals('plan', { id: 2 }), false],
    ['equals of a number and a text does not hold', equals('score', '5'), false],
    ['equals of undefined and an absent key holds', equals('none', undefined), true],
    ['oneOf with the value holds', oneOf('user:tier', ['silver', 'gold']), true],
    ['oneOf without the value does not hold', oneOf('user:tier', ['silver']), false],
    ['oneOf without values does not hold', oneOf('user:tier', []), false],
    ['not holds', not(isTrue('no')), true],
    ['all of true and true holds', all(isTrue('yes'), isSet('zero')), true],
    ['all of true and false does not hold', all(isTrue('yes'), isTrue('no')), false],
    ['all of nothing holds', all(), true],
    ['any of false and true holds', any(isTrue('no'), isTrue('yes')), true],
    ['any of false and false does not hold', any(isTrue('no'), isTrue('none')), false],
    ['any of nothing does not hold', any(), false],
  ])('%s', (_, condition, holds) => expect(condition(state)).toBe(holds))

  test('isSet() follows a computed value of a live session', () => {
    const computed = [{ key: 'total', from: ['price'], compute: (view: typeof state) => view.get('price') }]
    const mirror = new StateMirror({ computed, report: keepReports().report })
    expect(isSet('total')(mirror.state)).toBe(false)
    mirror.apply({ price: 3 })
    expect(isSet('total')(mirror.state)).toBe(true)
  })
  test.each([
    ['isSet', isSet('email'), false],
    ['not(isSet)', not(isSet('user:email')), true],
    ['equals', equals('derived:total', 1), false],
  ])('%s can be the compute of a computed value while the key is absent', (_, compute, value) => {
    const { report, errors } = keepReports()
    const computed = [
      { key: 'total', from: ['price'], compute: () => undefined },
      { key: 'known', from: ['email', 'user:email', 'derived:total'], compute },
    ]
    const { state } = new StateMirror({ computed, report })
    expect([state.get('derived:known'), errors]).toEqual([value, []])
  })
  test('not() of a condition that throws does not hold: it throws, too', () => {
    expect(() => not(broken)(state)).toThrow('broken')
  })
  test.each([
    ['isTrue', () => isTrue('')],
    ['isSet', () => isSet(undefined as unknown as string)],
    ['equals', () => equals('', 1)],
    ['oneOf', () => oneOf('', [])],
    ['oneOf', () => oneOf('a', 'b' as unknown as string[])],
  ])('%s refuses wrong arguments', (name, create) => {
    expect(thrownBy(create)).toMatchObject({ code: 'INVALID_CONFIG', message: expect.stringContaining(`${name}(`) })
  })
})
