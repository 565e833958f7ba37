import { expect, test } from 'vitest'
import { encodeBase64 } from '../../../core/base/base64.ts'
import { decodeBase64 } from './decode-base64.ts'

test.each([0, 1, 2, 3, 4, 5, 255, 256, 1_000])('decodes base64 of %i bytes', (length) => {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 89 + 3) & 255)
  expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes)
})

test('decodes base64 without padding and with the URL-safe alphabet', () => {
  expect(decodeBase64('-_8')).toEqual(decodeBase64('+/8='))
  expect(decodeBase64('-_8')).toEqual(new Uint8Array([251, 255]))
})

test.each(['*', 'AA AA', 'AAA\u{1F600}', 'A=AA'])('returns undefined for %j, which is no base64', (text) => {
  expect(decodeBase64(text)).toBeUndefined()
})
