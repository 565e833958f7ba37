import { expect, test } from 'vitest'
import { limitsOf } from '../executor-options.ts'
import { OutputFiles } from './output-files.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const take = (options = {}, given: Record<string, string> = {}) =>
  new OutputFiles(limitsOf(options), new Map(Object.entries(given).map(([name, text]) => [name, bytes(text)])))

test('new and changed files are taken, and what is as it was given is not', () => {
  const files = take({}, { 'same.txt': 'same', 'changed.txt': 'before' })
  files.add('same.txt', bytes('same'))
  files.add('changed.txt', bytes('after'))
  files.add('new.csv', bytes('1,2'))
  expect(files.list).toEqual([
    { name: 'changed.txt', mimeType: 'text/plain', data: btoa('after') },
    { name: 'new.csv', mimeType: 'text/csv', data: btoa('1,2') },
  ])
  expect(files.note).toBeUndefined()
})

test('a name that is no plain one, or comes twice, is left and said', () => {
  const files = take()
  files.add('../evil', bytes('x'))
  files.add('a', bytes('first'))
  files.add('a', bytes('second'))
  expect(files.list).toEqual([{ name: 'a', mimeType: 'text/plain', data: btoa('first') }])
  expect(files.note).toContain('not kept: "../evil", "a"')
})

test('so many files and no more', () => {
  const files = take({ maxFiles: 2 })
  for (let i = 0; i < 30; i++) files.add(`${i}`, bytes('x'))
  expect(files.list.map(({ name }) => name)).toEqual(['0', '1'])
  expect(files.room).toBe(-1)
  expect(files.note).toContain('and 18 more')
})

test('so many bytes together and no more', () => {
  const files = take({ maxFileBytes: 10 })
  files.add('a', bytes('123456'))
  expect(files.room).toBe(4)
  files.add('b', bytes('12345'))
  files.add('c', bytes('1234'))
  expect(files.list.map(({ name }) => name)).toEqual(['a', 'c'])
})

test('what is given is read from base64, under plain names only', async () => {
  const { inputFiles } = await import('./input-files.ts')
  expect(inputFiles([{ name: 'a', data: btoa('hi') }]).get('a')).toEqual(Buffer.from('hi'))
  expect(inputFiles().size).toBe(0)
  expect(() => inputFiles([{ name: '../a', data: '' }])).toThrow('"../a" is no plain file name')
})
