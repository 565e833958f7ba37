import { expect, test } from 'vitest'
import { isPlainFileName } from './plain-file-name.ts'

test.each(['a', 'report.csv', '.hidden', '-rf', 'über uns.txt', '日本.png', 'a..b', '...', 'con'])(
  'isPlainFileName() accepts the file name %j',
  (name) => {
    expect(isPlainFileName(name)).toBe(true)
  },
)

test.each(['', '.', '..', '../a', 'a/b', '/etc/passwd', '..\\a', 'a\0b', 'a\nb', '\u001b[31m', '\ud800'])(
  'isPlainFileName() refuses the file name %j',
  (name) => {
    expect(isPlainFileName(name)).toBe(false)
  },
)

test('isPlainFileName() refuses a file name of 201 characters', () => {
  expect(isPlainFileName('x'.repeat(201))).toBe(false)
})
