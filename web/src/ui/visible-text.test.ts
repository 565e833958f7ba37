import { describe, expect, test } from 'vitest'
import { lookalikeWords, prosePieces, visibleLine, visiblePieces, visibleProse, visibleText } from './visible-text.ts'

describe('hidden characters are shown by name', () => {
  test.each([
    ['zero width space', 'a\u200bb', 'a⟨U+200B⟩b'],
    ['right-to-left override', '\u202eexe.txt', '⟨U+202E⟩exe.txt'],
    ['isolates', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['escape', '\u001b[2J', '␛[2J'],
    ['carriage return', 'a\rb', 'a␍b'],
    ['no-break space', 'a\u00a0b', 'a⟨U+00A0⟩b'],
    ['tag characters', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['half of a surrogate pair', '\ud800x', '⟨U+D800⟩x'],
    ['soft hyphen', 'pay\u00adpal', 'pay⟨U+00AD⟩pal'],
    ['Hangul filler', '\u3164', '⟨U+3164⟩'],
    ['empty Braille pattern', '\u2800', '⟨U+2800⟩'],
    ['byte order mark', '\ufeffx', '⟨U+FEFF⟩x'],
  ])('%s', (_, text, shown) => expect(visibleText(text)).toBe(shown))

  test('newlines and tabs stay in text, and are named in a line', () => {
    expect(visibleText('a\n\tb')).toBe('a\n\tb')
    expect(visibleLine('a\n\tb')).toBe('a↵⇥b')
  })

  test('ordinary text of any language stays as it is', () => {
    for (const text of ['Straße', '東京', 'مرحبا', 'नमस्ते', '🙂', 'a b'])
      expect(visiblePieces(text)).toEqual([{ text, isMark: false }])
  })

  test('a text full of hidden characters stays a few pieces', () => {
    const pieces = visiblePieces('a\u200b'.repeat(100_000))
    expect(pieces).toHaveLength(1)
    expect(pieces[0]?.text.startsWith('a⟨U+200B⟩a')).toBe(true)
  })
})

describe('prose of a model', () => {
  test.each([
    ['right-to-left override', 'open \u202egpj.exe', 'open ⟨U+202E⟩gpj.exe'],
    ['an override beside right-to-left letters', 'שלום \u202eabc', 'שלום ⟨U+202E⟩abc'],
    ['isolates', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['zero width space', 'a\u200bb', 'a⟨U+200B⟩b'],
    ['joiners between Latin letters', 'pay\u200dpal\u200c', 'pay⟨U+200D⟩pal⟨U+200C⟩'],
    ['a direction mark in left-to-right text', 'a\u200fb', 'a⟨U+200F⟩b'],
    ['a variation selector after a letter', 'a\ufe0fb', 'a⟨U+FE0F⟩b'],
    ['text in tags', '🏴\u{e0068}\u{e0069}\u{e007f}', '🏴⟨U+E0068⟩⟨U+E0069⟩⟨U+E007F⟩'],
    ['tags after a letter', 'a\u{e0067}', 'a⟨U+E0067⟩'],
    ['escape', '\u001b[2J', '␛[2J'],
  ])('names %s', (_, text, shown) => expect(visibleProse(text)).toBe(shown))

  test.each([
    'Straße 東京 नमस्ते 🙂',
    '⚠️ ❤️ 1️⃣ 👍🏽',
    '👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️‍🔥',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    'می‌خواهم',
    'क्‍ष',
    'שלום\u200f! (abc)',
    'Prix\u00a0: 5\u202f000\u00a0€',
    'a\n\tb',
  ])('leaves %s as it is', (text) => expect(prosePieces(text)).toEqual([{ text, isMark: false }]))

  test('a text full of hidden characters stays a few pieces', () => {
    expect(prosePieces('a\u200b👨‍👩'.repeat(50_000))).toHaveLength(1)
  })
})

describe('lookalike words', () => {
  test.each([
    ['p\u0430ypal', 'p\u0430ypal (\u0430 is U+0430)'],
    ['g\u03bfogle', 'g\u03bfogle (\u03bf is U+03BF)'],
    ['\uff50aypal', '\uff50aypal (\uff50 is U+FF50)'],
  ])('%s is named', (word, note) => expect(lookalikeWords(`pay ${word} now`)).toEqual([note]))

  test('words of one script are not', () => expect(lookalikeWords('Привет Straße naïve 東京 α')).toEqual([]))
})
