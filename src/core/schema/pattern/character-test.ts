/** The characters that one step of a pattern accepts. */
export interface CharacterTest {
  /** One bit for each ASCII character, 32 in each number. */
  readonly ascii: readonly [number, number, number, number]
  /** Accepts code points from 128 on; undefined if the step accepts none of them. */
  readonly beyond: ((codePoint: number) => boolean) | undefined
}

/** The test of one character, an escape or a class. The native engine decides which characters it accepts. */
export function createCharacterTest(text: string): CharacterTest {
  const ascii: CharacterTest['ascii'] & number[] = [0, 0, 0, 0]
  const code = text.charCodeAt(0)
  if (text.length === 1 && code < 128 && text !== '.') {
    ascii[code >> 5] = 1 << (code & 31)
    return { ascii, beyond: undefined }
  }
  const native = new RegExp(`^${text}$`, 'u')
  for (let i = 0; i < 128; i++) if (native.test(String.fromCharCode(i))) (ascii[i >> 5] as number) |= 1 << (i & 31)
  if (ONLY_ASCII.test(text)) return { ascii, beyond: undefined }
  return { ascii, beyond: (codePoint) => native.test(String.fromCodePoint(codePoint)) }
}

/** Text that accepts ASCII characters only: not negated, and without escapes that accept more. */
const ONLY_ASCII = /^(?:\\[dwtnvfr]|\\[^a-zA-Z0-9]|\[(?!\^)(?:[!-[^-~ ]|\\[dwtnvfr]|\\[^a-zA-Z0-9])*\])$/

/** Does the test accept the code point? */
export function acceptsCharacter(is: CharacterTest, codePoint: number): boolean {
  if (codePoint < 128) return (((is.ascii[codePoint >> 5] as number) >>> (codePoint & 31)) & 1) === 1
  return is.beyond?.(codePoint) === true
}
