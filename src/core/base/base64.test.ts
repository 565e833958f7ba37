import { describe, expect, test } from 'vitest'
import { base64ByteLength, decodeBase64, encodeBase64 } from './base64.ts'
import fc from './fast-check.test-kit.ts'

test('decodeBase64() returns the bytes that encodeBase64() was given', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = encodeBase64(bytes)
      expect(text).toBe(Buffer.from(bytes).toString('base64'))
      expect(decodeBase64(text)).toEqual(bytes)
      expect(base64ByteLength(text)).toBe(bytes.length)
    }),
  )
})

test('decodeBase64() accepts exactly the texts of four characters that Node writes the same way', () => {
  const characters = fc.constantFrom(...'AQgw+/-_=09az \n\u00e9'.split(''))
  fc.assert(
    fc.property(fc.array(characters, { minLength: 4, maxLength: 4 }), (list) => {
      const text = list.join('')
      const isBase64 = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/.test(text)
      expect(decodeBase64(text) !== undefined).toBe(isBase64)
      if (isBase64) expect(decodeBase64(text)).toEqual(new Uint8Array(Buffer.from(text, 'base64')))
    }),
    { numRuns: 500 },
  )
})

test('decodeBase64() decodes several megabytes', () => {
  const bytes = new Uint8Array(3_000_000).map((_, at) => at)
  const decoded = decodeBase64(encodeBase64(bytes))
  expect(decoded && Buffer.compare(decoded, bytes)).toBe(0)
})

describe('decodeBase64() refuses', () => {
  test.each([
    ['text without padding', 'aGk'],
    ['the URL alphabet', 'a-_b'],
    ['padding in the middle', 'aA==aGk='],
    ['three characters of padding', 'a==='],
    ['only padding', '===='],
    ['white space', 'aGk=\n   '],
    ['a character outside of ASCII', 'aGk\u00e9'],
    ['a character whose code ends like that of a letter', `aGk${String.fromCharCode(0x141)}`],
  ])('%s', (_, text) => {
    expect(decodeBase64(text)).toBeUndefined()
  })
})
