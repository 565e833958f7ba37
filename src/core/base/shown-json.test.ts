import { expect, test } from 'vitest'
import { isShownWhole, shownJson } from './shown-json.ts'

test.each([
  [{ amount: 5 }, '{"amount":5}'],
  [{ a: [1, 'x', null, true], b: {} }, '{"a":[1,"x",null,true],"b":{}}'],
  [undefined, 'null'],
  ['line\nand\ttab', '"line\\nand\\ttab"'],
  ['a\u202eb\u200bc\u00add\u{e0041}', '"a\\u{202e}b\\u{200b}c\\xadd\\u{e0041}"'],
  ['a\\u{202e}', '"a\\\\u{202e}"'],
  ['né 你好', '"né 你好"'],
])('shows %j as %s', (value, shown) => {
  expect(shownJson(value)).toBe(shown)
})

test('cuts a long text on its own, with both ends and the number of characters', () => {
  const shown = shownJson({ note: `start ${'x'.repeat(10_000)} end`, amount: 90_000 })
  expect(shown).toMatch(/^\{"note":"start x+"… 9810 more characters …"x+ end","amount":90000\}$/)
})

test('shows a value beside a list or an object with many values, at every depth', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => at)
  const deep = { a: { b: { junk: many, amount: 90_000 } }, more: Object.fromEntries(Object.entries(many)), total: 7 }
  const shown = shownJson(deep)
  expect(shown).toContain('"amount":90000')
  expect(shown).toContain('"total":7')
  expect(shown).toMatch(/… \d+ more/)
})

test('is bounded for any value', () => {
  let nested: unknown = 'x'.repeat(1_000)
  for (let depth = 0; depth < 1_000; depth++) nested = [nested, nested]
  const wide = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`${'k'.repeat(500)}${at}`, 'v'.repeat(500)]),
  )
  for (const value of [nested, wide, [wide, wide]]) expect(shownJson(value).length).toBeLessThan(100_000)
  expect([isShownWhole(wide), isShownWhole({ a: wide })]).toEqual([false, true])
})
