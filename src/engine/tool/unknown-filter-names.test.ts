import { expect, test } from 'vitest'
import { unknownFilterNames } from './unknown-filter-names.ts'

test('names a misspelled tool and the tool that was meant', () => {
  expect(unknownFilterNames(['read_fil', 'list'], ['read_file', 'list'])).toEqual([
    'toolFilter names "read_fil", but no usable tool has this name. Did you mean "read_file"?',
  ])
})

test('accepts known names, no filter and a function', () => {
  for (const toolFilter of [['list'], [], undefined, () => true])
    expect(unknownFilterNames(toolFilter, ['list'])).toEqual([])
})
