/** The most values in one body: a few bytes of JSON are many bytes of objects. */
const MAX_VALUES = 100_000
/** The deepest nesting of a body. */
const MAX_LEVELS = 200

/** The most members of one object: objects with many members take a hundred times as long as lists. */
const MAX_MEMBERS = 10_000

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92

/** What is wrong with the shape of a JSON text, before it is parsed; undefined if nothing is. */
export function jsonShapeProblem(text: string): string | undefined {
  let level = 0
  let values = 0
  /** The commas of each open object, and of each open list as a negative number that never reaches a limit. */
  const commas = [Number.NEGATIVE_INFINITY]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) {
      values++
      const count = (commas[level] ?? 0) + 1
      commas[level] = count
      if (count >= MAX_MEMBERS) return `an object with more than ${MAX_MEMBERS} members`
    } else if (code === 91 || code === 123) {
      values++
      if (++level > MAX_LEVELS) return `nested deeper than ${MAX_LEVELS} levels`
      commas[level] = code === 123 ? 0 : Number.NEGATIVE_INFINITY
    } else if (code === 93 || code === 125) level = Math.max(0, level - 1)
    if (values > MAX_VALUES) return `more than ${MAX_VALUES} values`
  }
  return undefined
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at === -1 ? text.length : at
}

function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1
  while (text.charCodeAt(at) === BACKSLASH) at--
  return (quote - at) % 2 === 0
}
