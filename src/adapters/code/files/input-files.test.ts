import { expect, test } from 'vitest'
import { decodeInputFiles } from './input-files.ts'

test('decodeInputFiles() decodes base64 and rejects a name that is not plain', () => {
  expect(decodeInputFiles([{ name: 'a', data: btoa('hi') }]).get('a')).toEqual(Buffer.from('hi'))
  expect(decodeInputFiles().size).toBe(0)
  expect(() => decodeInputFiles([{ name: '../a', data: '' }])).toThrow('Input file "../a" is not a plain file name')
})
