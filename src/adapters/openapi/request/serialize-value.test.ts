import { describe, expect, test } from 'vitest'
import type { ApiParameter } from '../operation.ts'
import { encodeReserved, encodeText } from './percent-encode.ts'
import { serializePairs, serializeSimple } from './serialize-value.ts'

const LIST = ['blue', 'black', 'brown']
const OBJECT = { R: 100, G: 200, B: 150 }

function write(style: ApiParameter['style'], explode: boolean, value: unknown): string | undefined {
  const format = { name: 'color', style, explode, encode: encodeText }
  const isPath = style === 'simple' || style === 'label' || style === 'matrix'
  return isPath ? serializeSimple(value, format) : serializePairs(value, format).join('&')
}

// The table "Style Examples" of OpenAPI 3.1.1.
test.each<[ApiParameter['style'], boolean, string, string, string, string]>([
  ['matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['label', false, '.', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['label', true, '.', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['form', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
])('writes style %s, explode %s, as the table of OpenAPI shows', (style, explode, empty, text, list, object) => {
  expect(write(style, explode, '')).toBe(empty)
  expect(write(style, explode, 'blue')).toBe(text)
  expect(write(style, explode, LIST)).toBe(list)
  expect(write(style, explode, OBJECT)).toBe(object)
})

test.each<[ApiParameter['style'], boolean, unknown, string]>([
  ['spaceDelimited', false, LIST, 'color=blue%20black%20brown'],
  ['spaceDelimited', false, OBJECT, 'color=R%20100%20G%20200%20B%20150'],
  ['pipeDelimited', false, LIST, 'color=blue%7Cblack%7Cbrown'],
  ['pipeDelimited', false, OBJECT, 'color=R%7C100%7CG%7C200%7CB%7C150'],
  ['spaceDelimited', true, LIST, 'color=blue&color=black&color=brown'],
  ['deepObject', true, OBJECT, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
  ['deepObject', true, { a: { b: 1 }, c: [2, 3] }, 'color%5Ba%5D%5Bb%5D=1&color%5Bc%5D%5B0%5D=2&color%5Bc%5D%5B1%5D=3'],
])('writes style %s, explode %s, of %j', (style, explode, value, expected) => {
  expect(write(style, explode, value)).toBe(expected)
})

// The examples of RFC 6570, sections 3.2.2, 3.2.5, 3.2.7 and 3.2.8.
test.each<[string, ApiParameter['style'], boolean, string, unknown, string]>([
  ['{var}', 'simple', false, 'var', 'value', 'value'],
  ['{hello}', 'simple', false, 'hello', 'Hello World!', 'Hello%20World%21'],
  ['{half}', 'simple', false, 'half', '50%', '50%25'],
  ['{list}', 'simple', false, 'list', ['red', 'green', 'blue'], 'red,green,blue'],
  ['{keys}', 'simple', false, 'keys', { semi: ';', dot: '.', comma: ',' }, 'semi,%3B,dot,.,comma,%2C'],
  ['{keys*}', 'simple', true, 'keys', { semi: ';', dot: '.', comma: ',' }, 'semi=%3B,dot=.,comma=%2C'],
  ['{.keys*}', 'label', true, 'keys', { semi: ';', dot: '.', comma: ',' }, '.semi=%3B.dot=..comma=%2C'],
  ['{;keys*}', 'matrix', true, 'keys', { semi: ';', dot: '.', comma: ',' }, ';semi=%3B;dot=.;comma=%2C'],
  ['{;list}', 'matrix', false, 'list', ['red', 'green', 'blue'], ';list=red,green,blue'],
  ['{;empty}', 'matrix', false, 'empty', '', ';empty'],
])('expands %s as RFC 6570 shows', (_, style, explode, name, value, expected) => {
  expect(serializeSimple(value, { name, style, explode, encode: encodeText })).toBe(expected)
})

describe('values without a text', () => {
  test.each([null, undefined, [], {}, [null], { a: null }])('%j is left out', (value) => {
    expect(write('form', true, value)).toBe('')
    expect(write('simple', false, value)).toBeUndefined()
    expect(write('deepObject', true, value)).toBe('')
  })

  test('booleans, numbers and nested objects are written as JSON', () => {
    expect(write('form', true, [true, 0, 1.5, { a: [1] }])).toBe(
      'color=true&color=0&color=1.5&color=%7B%22a%22%3A%5B1%5D%7D',
    )
  })
})

test('a parameter that allows reserved characters keeps those that cannot split the query', () => {
  expect(encodeReserved("a/b?c:d@e!$'()*,;=")).toBe("a/b?c:d@e!$'()*,;=")
  expect(encodeReserved('x&admin=1#f[0]+ %41 50%')).toBe('x%26admin=1%23f%5B0%5D%2B%20%41%2050%25')
})

test('half of a Unicode character is refused as an invalid argument', () => {
  expect(() => encodeText('a\ud800')).toThrow(expect.objectContaining({ code: 'INVALID_ARGS' }))
  expect(encodeText('a\u{1F600}')).toBe('a%F0%9F%98%80')
})
