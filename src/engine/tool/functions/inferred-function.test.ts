import { describe, expect, test } from 'vitest'
import { attachInferred, type InferredFunction, inferredOf } from './inferred-function.ts'

const shapeOf = (name: string): InferredFunction => ({ name, parameters: { type: 'object' }, call: [] })

describe('attachInferred()', () => {
  test('returns the function itself, which then has what was inferred', () => {
    const search = (): void => {}
    const shape = shapeOf('search')
    expect(inferredOf(search)).toBeUndefined()
    expect(attachInferred(search, shape)).toBe(search)
    expect(inferredOf(search)).toBe(shape)
    expect(Object.keys(search)).toEqual([])
  })

  test('attaches to the functions of a list by their names, also in nested and in changed lists', () => {
    const [first, second, third, other] = [
      function first() {},
      function second() {},
      function third() {},
      function other() {},
    ]
    const list = [other, third, { name: 'a tool' }, [second, [first]]]
    expect(attachInferred(list, [shapeOf('first'), shapeOf('second'), shapeOf('third')])).toBe(list)
    expect([first, second, third, other].map((fn) => inferredOf(fn)?.name)).toEqual([
      'first',
      'second',
      'third',
      undefined,
    ])
  })

  test('attaches nothing to functions of a list that share a name', () => {
    const same = function same() {}
    attachInferred([same], [shapeOf('same'), shapeOf('same')])
    expect(inferredOf(same)).toBeUndefined()
  })

  test('refuses two different types for one function, and accepts the same one twice', () => {
    const pay = (): void => {}
    attachInferred(pay, shapeOf('pay'))
    attachInferred(pay, shapeOf('pay'))
    expect(() =>
      attachInferred(pay, { ...shapeOf('pay'), parameters: { type: 'object', required: ['amount'] } }),
    ).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        message: expect.stringContaining('"pay" was read with two different types'),
      }),
    )
  })

  test('attaches to a frozen function and to the functions of a frozen list', () => {
    const fn = Object.freeze(function fn() {})
    attachInferred(Object.freeze([fn]), [shapeOf('fn')])
    expect(inferredOf(fn)?.name).toBe('fn')
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an object', { name: 'tool' }],
    ['text', 'search'],
  ])('returns %s unchanged', (_, value) => {
    expect(attachInferred(value, shapeOf('x'))).toBe(value)
    expect(attachInferred(value, [shapeOf('x')])).toBe(value)
    expect(attachInferred([value], [shapeOf('x')])).toEqual([value])
  })

  test('keeps the whole description of a function that is also used with explicit parameters', () => {
    const fn = (): void => {}
    const partial = { ...shapeOf('fn'), needsParameters: true } as const
    attachInferred(fn, partial)
    expect(inferredOf(fn)).toBe(partial)
    const whole = attachInferred(fn, shapeOf('fn')) && inferredOf(fn)
    expect(whole).toEqual(shapeOf('fn'))
    attachInferred(fn, partial)
    expect(inferredOf(fn)).toBe(whole)
  })

  test('accepts a list that is shorter than its shape', () => {
    expect(attachInferred([], [shapeOf('x')])).toEqual([])
  })

  test('attaches nothing to a function that stands where a list was expected', () => {
    const fn = (): void => {}
    attachInferred(fn, [shapeOf('fn')])
    expect(inferredOf(fn)).toBeUndefined()
  })
})
