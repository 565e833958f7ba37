import { SourceMap } from 'node:module'
import { expect, test } from 'vitest'
import { toLineMap } from '../scripts/line-map.ts'

/** Two lines. The first: columns 0, 4 and 8 from line 1 of a.ts, column 12 from line 41 of b.ts. The second: column 2 from line 1 of a.ts. */
const full = {
  version: 3 as const,
  sources: ['a.ts', 'b.ts'],
  sourcesContent: ['const a = 1', ''],
  names: ['a'],
  mappings: 'AAAA,IAAIA,IAAI,ICwCR;EDxCA',
  file: 'x.js',
  sourceRoot: '',
}
const places = [
  [0, 0, 'a.ts', 0],
  [0, 9, 'a.ts', 0],
  [0, 12, 'b.ts', 40],
  [0, 99, 'b.ts', 40],
  [1, 2, 'a.ts', 0],
] as const

test('a line map has the file and the line of every position', () => {
  const map = toLineMap(full)
  for (const one of [full, map]) {
    const read = new SourceMap(one as typeof full)
    const found = places.map(([line, column]) => {
      const entry = read.findEntry(line, column)
      return [
        line,
        column,
        'originalSource' in entry && entry.originalSource,
        'originalLine' in entry && entry.originalLine,
      ]
    })
    expect(found).toEqual(places)
  }
})

test('a line map has neither sources nor names, and one mapping for each line of the source', () => {
  expect(toLineMap(full)).toMatchObject({ names: [], mappings: 'AAAA,YCwCA;EDxCA' })
  expect(toLineMap(full)).not.toHaveProperty('sourcesContent')
})
