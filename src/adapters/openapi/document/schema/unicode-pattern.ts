import { isRegularExpression } from '../../../../core/schema/pattern/regular-expression.ts'

/**
 * The pattern for an engine with the "u" flag, which our validator has. Many documents escape characters that need no
 * escape, which that flag does not allow, or write the slashes of a JavaScript literal around the pattern.
 */
export function toUnicodePattern(given: string): string {
  // A text cannot start after a slash, so that the pattern as written would match nothing.
  const source = /^\/(\^.*\$)\/$/.exec(given)?.[1] ?? given
  if (source.length > 10_000 || isRegularExpression(source)) return source
  const plain = dropNeedlessEscapes(source)
  return isRegularExpression(plain) ? plain : source
}

const NEEDLESS = /[^\w\s^$\\.*+?()[\]{}|/-]|_| /

function dropNeedlessEscapes(source: string): string {
  let isInClass = false
  let plain = ''
  for (let at = 0; at < source.length; at++) {
    const character = source[at] as string
    const next = source[at + 1]
    if (character === '\\' && next !== undefined) {
      const isNeedless = NEEDLESS.test(next) || (next === '-' && !isInClass)
      plain += isNeedless ? next : character + next
      at++
      continue
    }
    if (character === '[') isInClass = true
    if (character === ']') isInClass = false
    plain += character
  }
  return plain
}
