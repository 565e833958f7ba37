// The patterns of template literal types. They accept what the compiler accepts: it gives each placeholder the text up to the first
// place where the text behind the placeholder begins, and one character if there is no text.
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'

/** The pattern of a template literal type. Undefined if a part of it has no pattern. */
export function templatePattern(ts: TypeScript, { texts, types }: ts.TemplateLiteralType): string | undefined {
  const parts = types.map((type, index) => {
    if (index === types.length - 1) return lastPattern(ts, type)
    const isFree = types.slice(index + 1).every(({ flags }) => flags & ts.TypeFlags.String)
    return partPattern(ts, type, texts[index + 1] ?? '', isFree)
  })
  if (parts.includes(undefined)) return undefined
  return `^${texts.map((text, index) => escapePattern(text) + (parts[index] ?? '')).join('')}$`
}

const INTEGER = '(0|[1-9][0-9]*)'
const FRACTION = '(\\.[0-9]+)?'

/** The last placeholder has all text that is left. */
function lastPattern(ts: TypeScript, { flags }: ts.Type): string | undefined {
  if (flags & ts.TypeFlags.String) return '[\\s\\S]*'
  if (flags & ts.TypeFlags.Number) return `-?${INTEGER}${FRACTION}`
  return flags & ts.TypeFlags.BigInt ? `-?${INTEGER}` : undefined
}

/** A placeholder before others. `next` is the text behind it; `isFree` says that any text fits the others. */
function partPattern(ts: TypeScript, { flags }: ts.Type, next: string, isFree: boolean): string | undefined {
  const isNumber = (flags & ts.TypeFlags.Number) !== 0
  if (flags & ts.TypeFlags.String) {
    if (next === '') return '[\\s\\S]'
    if (isFree) return '[\\s\\S]*'
    return next.length === 1 ? `[^${escapePattern(next)}]*` : undefined
  }
  if ((!isNumber && !(flags & ts.TypeFlags.BigInt)) || /^[0-9]/.test(next)) return undefined
  if (next === '') return '[0-9]'
  const sign = next.startsWith('-') ? '' : '-?'
  return `${sign}${INTEGER}${isNumber && !next.startsWith('.') ? FRACTION : ''}`
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
