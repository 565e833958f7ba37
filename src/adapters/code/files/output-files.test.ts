import { expect, test } from 'vitest'
import { readExecutorLimits } from '../executor-options.ts'
import { OutputFiles } from './output-files.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const collect = (options = {}, inputFiles: Record<string, string> = {}) =>
  new OutputFiles(
    readExecutorLimits(options),
    new Map(Object.entries(inputFiles).map(([name, text]) => [name, bytes(text)])),
  )

test('OutputFiles saves new and changed files, but not an unchanged input file', () => {
  const files = collect({}, { 'same.txt': 'same', 'changed.txt': 'before' })
  files.add('same.txt', bytes('same'))
  files.add('changed.txt', bytes('after'))
  files.add('new.csv', bytes('1,2'))
  expect(files.saved).toEqual([
    { name: 'changed.txt', mimeType: 'text/plain', data: btoa('after') },
    { name: 'new.csv', mimeType: 'text/csv', data: btoa('1,2') },
  ])
  expect(files.skippedNote).toBeUndefined()
})

test('OutputFiles skips a file whose name is not plain or already saved, and adds a note', () => {
  const files = collect()
  files.add('../evil', bytes('x'))
  files.add('a', bytes('first'))
  files.add('a', bytes('second'))
  expect(files.saved).toEqual([{ name: 'a', mimeType: 'text/plain', data: btoa('first') }])
  expect(files.skippedNote).toContain('not saved: "../evil", "a"')
})

test('OutputFiles saves at most maxFiles files', () => {
  const files = collect({ maxFiles: 2 })
  for (let i = 0; i < 30; i++) files.add(`${i}`, bytes('x'))
  expect(files.saved.map(({ name }) => name)).toEqual(['0', '1'])
  expect(files.remainingBytes).toBe(-1)
  expect(files.skippedNote).toContain('and 18 more')
})

test('OutputFiles saves at most maxFileBytes bytes', () => {
  const files = collect({ maxFileBytes: 10 })
  files.add('a', bytes('123456'))
  expect(files.remainingBytes).toBe(4)
  files.add('b', bytes('12345'))
  files.add('c', bytes('1234'))
  expect(files.saved.map(({ name }) => name)).toEqual(['a', 'c'])
})
