import { describe, expect, test } from 'vitest'
import { lookalikeWords, visibleLine, visiblePieces, visibleText } from './visible-text.ts'

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
    expect(visibleLine('a\n\tb')).toBe('a␤␉b')
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

describe('lookalike words', () => {
  test.each([
    ['p\u0430ypal', 'p\u0430ypal (\u0430 is U+0430)'],
    ['g\u03bfogle', 'g\u03bfogle (\u03bf is U+03BF)'],
    ['\uff50aypal', '\uff50aypal (\uff50 is U+FF50)'],
  ])('%s is named', (word, note) => expect(lookalikeWords(`pay ${word} now`)).toEqual([note]))

  test('words of one script are not', () => expect(lookalikeWords('Привет Straße naïve 東京 α')).toEqual([]))
})
