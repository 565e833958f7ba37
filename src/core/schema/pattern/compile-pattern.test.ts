import { describe, expect, test } from 'vitest'
import fc from '../../base/fast-check.test-kit.ts'
import { compileSchema } from '../compile.ts'
import { MAX_WORK, WorkLimitError } from '../work-budget.ts'
import { compilePattern } from './compile-pattern.ts'
import { UnsupportedPatternError } from './parse-pattern.ts'

/** Whether the pattern matches the text, and the work that the match took. */
function search(source: string, text: string, left = MAX_WORK): { matches: boolean; work: number } {
  const work = { left }
  const matches = compilePattern(source).test(text, work)
  return { matches, work: left - work.left }
}

describe('the work of compilePattern() grows only with the length of a hostile text', { timeout: 30_000 }, () => {
  test.each([
    ['^(a+)+$', 'a', '!'],
    ['^(a*)*$', 'a', '!'],
    ['^(a|a)*$', 'a', '!'],
    ['^(a|aa)+$', 'a', '!'],
    ['(.*)*x', 'a', ''],
    ['.*.*.*=.*', 'a', ''],
    ['a*b', 'a', ''],
    ['(x+x+)+y', 'x', ''],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a', ''],
    ['(?=.*x)(?!.*y).*z', 'a', ''],
    ['(?<=a.*)b', 'a', ''],
    ['^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', 'a@a.', '@'],
    ['^[a-z0-9]+$', 'a', '!'],
    ['\\d{4}-\\d{2}-', '2024-', ''],
    ['(\\p{L}|é)+$', 'é', '!'],
  ])('%s', (source, unit, end) => {
    const short = search(source, unit.repeat(1_000) + end)
    const long = search(source, unit.repeat(10_000) + end)
    expect(short.matches).toBe(false)
    expect(long.matches).toBe(false)
    expect(long.work).toBeLessThan(short.work * 11)
    expect(long.work).toBeLessThan(unit.length * 10_000 * 20)
  })

  test('and a large text with a large pattern is refused as too much work', () => {
    expect(() => search('(?:a{2000})+b', 'a'.repeat(100_000))).toThrow(WorkLimitError)
    const { parse } = compileSchema({ type: 'string', pattern: '(?:a{2000})+b' }, 'Tool "t"')
    expect(parse('a'.repeat(100_000))).toEqual({
      issues: [{ path: '', expected: 'a value that takes less work to check against its schema' }],
    })
    expect(parse(`${'a'.repeat(2_000)}b`)).toHaveProperty('value')
  })
})

test('compilePattern() agrees with the native engine on short texts', { timeout: 60_000 }, () => {
  const atom = fc.constantFrom(
    ...'a|b|.|\\d|\\w|\\W|\\s|[ab]|[^a]|[a-c\\d]|é|😀|[😀-😂]|\\p{L}|\\P{L}|\\u0061|\\u{1F600}|\\uD83D\\uDE00|\\x61'.split(
      '|',
    ),
    ...'\\.|\\b|\\B|^|$|[]|[^]|\\/|\\n|[\\b]|\\cA|\\0|[\\]a]|[^\\n-]'.split('|'),
  )
  const quantifier = fc.constantFrom(...'* + ? {2} {0} {1,} {0,2} {2,3} *? +? ?? {1,2}?'.split(' '))
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => {
    const part = tie('pattern')
    return {
      pattern: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        atom,
        fc.array(part, { minLength: 2, maxLength: 3 }).map((parts) => parts.join('')),
        fc.array(part, { minLength: 2, maxLength: 2 }).map((parts) => parts.join('|')),
        fc
          .tuple(fc.constantFrom('(', '(?:', '(?<n>', '(?=', '(?!', '(?<=', '(?<!'), part)
          .map(([open, of]) => `${open}${of})`),
        fc.tuple(part, quantifier).map(([of, times]) => `(?:${of})${times}`),
      ),
    }
  })
  const unit = fc.constantFrom('a', 'b', '1', ' ', 'é', '😀', '\n', '_', '/', '\ud83d', '\u0001', ']', '-')
  const texts = fc.array(fc.string({ unit, maxLength: 8 }), { minLength: 4, maxLength: 4 })
  let compared = 0
  fc.assert(
    fc.property(pattern, texts, fc.boolean(), (made, given, isWhole) => {
      const source = isWhole ? `^${made}$` : made
      let native: RegExp
      try {
        native = new RegExp(source, 'uy') // at each position, because V8 also searches between the halves of a character
      } catch {
        return
      }
      const ours = compilePattern(source)
      for (const text of given) {
        const starts = Array.from({ length: text.length + 1 }, (_, at) => at).filter((at) => !isInside(text, at))
        const expected = starts.some((start) => {
          native.lastIndex = start
          return native.test(text)
        })
        expect([source, text, ours.test(text, { left: MAX_WORK })]).toEqual([source, text, expected])
        compared++
      }
    }),
    { numRuns: 3_000 },
  )
  expect(compared).toBeGreaterThan(5_000)
})

/** Whether the index is between the two halves of a character. */
function isInside(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) as number) > 0xffff
}

describe('patterns of compilePattern()', () => {
  test.each<[string, string[], string[]]>([
    ['^[A-Z]{3}-\\d{4,8}$', ['ABC-12345'], ['ABC-123', 'abc-1234', 'xABC-1234']],
    ['^https?://', ['http://a', 'https://'], ['ftp://', ' http://']],
    ['^(?!admin$)[a-z]+$', ['ann'], ['admin', 'Ann']],
    ['^(?=.*\\d)(?=.*[a-z]).{8,}$', ['abcdefg1'], ['abcdefgh', 'abc1']],
    ['^(?:\\+\\d{1,3} ?)?[\\d -]{5,}$', ['+47 12 34 56 78'], ['+', 'x']],
    ['^\\p{Lu}\\p{Ll}+$', ['Émile'], ['émile']],
    ['\\bfoo\\b', ['a foo b'], ['afoo']],
    ['^$', [''], ['x']],
    ['', ['', 'x'], []],
    ['^.{1,2000}$', ['x'.repeat(2_000)], ['', 'x'.repeat(2_001)]],
    ['(?<=\\$)\\d+', ['cost $5'], ['cost 5']],
    ['^(?<year>\\d{4})-(?<month>\\d{2})$', ['2024-01'], ['24-01']],
  ])('match valid texts and no others: %s', (source, matching, other) => {
    for (const text of matching) expect([text, search(source, text).matches]).toEqual([text, true])
    for (const text of other) expect([text, search(source, text).matches]).toEqual([text, false])
  })

  test('match a text that is too long for the native engine', () => {
    expect(search('^(?:ab)*$', 'ab'.repeat(100_000)).matches).toBe(true)
    expect(search('^(?:ab)*$', `${'ab'.repeat(100_000)}a`).matches).toBe(false)
  })
})

describe('compilePattern() refuses a pattern that cannot be matched in bounded time', () => {
  const classes = Array.from({ length: 300 }, (_, i) => `[a${String.fromCharCode(0x400 + i)}]`)
  test.each<[string, string, RegExp]>([
    ['a back-reference', '(a)\\1', /back-reference/],
    ['a named back-reference', '(?<x>a)\\k<x>', /back-reference/],
    ['nested repetitions', '(a{1000}){1000}', /repeats too much/],
    ['nested repetitions of nothing', '(?:(?:){100000}){100000}', /repeats too much/],
    ['500 nested groups', `${'('.repeat(500)}a${')'.repeat(500)}`, /nests groups deeper/],
    ['300 character classes', classes.join(''), /character classes/],
  ])('%s', (_what, source, why) => {
    expect(() => compilePattern(source)).toThrow(UnsupportedPatternError)
    for (const schema of [
      { type: 'string', pattern: source },
      { type: 'object', patternProperties: { [source]: {} } },
    ])
      expect(() => compileSchema(schema, 'Tool "pay"')).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringMatching(why) }),
      )
  })

  test('patterns that are too large together', () => {
    const patterns = Array.from({ length: 100 }, (_, i) => ({ pattern: `^x{0,${2_000 + i}}y` }))
    expect(() => compileSchema({ type: 'object', allOf: patterns }, 'Tool "pay"')).toThrow(/too large together/)
  })
})
