import { expect, test } from 'vitest'
import { HOSTILE_IDS } from '../../adapters/testing/suites/hostile-ids.ts'
import fc from '../../core/base/fast-check.test-kit.ts'
import { fromSegment, toSegment } from './segment.ts'

const NAMES = [
  ...HOSTILE_IDS,
  ...[
    '.',
    '..',
    '...',
    '.env',
    'a.',
    '=',
    '==',
    '=0041',
    'con',
    'CON',
    'con.txt',
    'nul',
    'com1',
    'lpt9.log',
    '/',
    '\\',
  ],
  ...['C:', 'a\\b', '\u0130', 'i\u0307', 'ß', 'ẞ', 'ss', 'ﬁ', 'fi', '\u{1F600}', '\ud83d', '\ude00', 'é'.repeat(300)],
]

test('a name keeps its folder to itself on a disk that ignores case and Unicode forms', () => {
  const seen = new Map<string, string>()
  for (const name of new Set(NAMES)) {
    const folder = toSegment(name).normalize('NFKC').toLowerCase()
    expect([folder, seen.get(folder)]).toEqual([folder, undefined])
    seen.set(folder, name)
  }
})

test('a folder is one plain name of bounded length, whatever the id is', () => {
  const id = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'binary', maxLength: 150 }), fc.string())
  fc.assert(
    fc.property(id, (name) => {
      const folder = toSegment(name)
      expect(folder).toMatch(/^[a-z0-9_=-](?:[a-z0-9_.=-]{0,120}[a-z0-9_=-])?$/)
      expect(folder).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/)
      expect([name, undefined]).toContain(fromSegment(folder))
      if (folder.length <= 100) expect(fromSegment(folder)).toBe(name)
    }),
  )
})

test('a plain filename can be read in the folder', () => {
  expect(['bill.txt', 'user-1', 'Report.pdf'].map(toSegment)).toEqual(['bill.txt', 'user-1', '=0052eport.pdf'])
})

test.each(['=00', '=zzzz', 'A', 'a b', `x==${'0'.repeat(64)}`, '..', 'con'])(
  'the folder %j belongs to no readable id',
  (folder) => {
    expect(fromSegment(folder)).toBe(undefined)
  },
)
