import { hashOf } from '../cache/hash.ts'
import type { Attachment } from '../positions/attachments.ts'
import { literal } from './literal.ts'
import { type Insertion, insertionMap } from './source-map.ts'

/**
 * Adds what was inferred to a source text. Expressions are wrapped in place, and everything else is appended: imports and
 * functions are hoisted, so lines keep their numbers.
 */
export function emit(file: string, source: string, attachments: readonly Attachment[]): { code: string; map: string } {
  let prefix = '__toolwright'
  while (source.includes(prefix)) prefix += '_'
  const isTyped = /\.[cm]?tsx?$/.test(file)
  const signature = isTyped ? '<T>(value: T): T' : '(value)'
  const id = hashOf(file).slice(0, 8)
  const wrappers = attachments.map(
    ({ shape, expectedName }, index) =>
      `function ${prefix}${index}${signature} { ${guard(expectedName, isTyped)}return ${prefix}(value, ${literal(shape)}, '${id}:${index}') }`,
  )
  const insertions = insertionsOf(source, attachments, prefix)
  const code = `${withInsertions(source, insertions)}\nimport { attachInferred as ${prefix} } from 'toolwright/infer'\n${wrappers.join('\n')}\n`
  return { code, map: insertionMap(file, source, insertions) }
}

/** Leaves a value alone that is not the function whose types were read. */
function guard(expectedName: string | undefined, isTyped: boolean): string {
  if (expectedName === undefined) return ''
  const value = isTyped ? '(value as { name?: unknown } | undefined)' : 'value'
  return `if (${value}?.name !== ${JSON.stringify(expectedName)}) return value; `
}

/** The brackets around each expression. An expression that contains another one is closed after it. */
function insertionsOf(source: string, attachments: readonly Attachment[], prefix: string): Insertion[] {
  const brackets = attachments.flatMap(({ start, end, isShorthand }, index) => {
    const property = isShorthand ? `${source.slice(start, end)}: ` : ''
    return [
      { at: start, text: `${property}${prefix}${index}(`, size: end - start, isEnd: false },
      { at: end, text: ')', size: end - start, isEnd: true },
    ]
  })
  // at one position: ends first, the inner one before the outer one; then starts, the outer one first
  return brackets.sort((a, b) => {
    if (a.at !== b.at) return a.at - b.at
    if (a.isEnd !== b.isEnd) return a.isEnd ? -1 : 1
    return a.isEnd ? a.size - b.size : b.size - a.size
  })
}

function withInsertions(source: string, insertions: readonly Insertion[]): string {
  let text = ''
  let at = 0
  for (const insertion of insertions) {
    text += source.slice(at, insertion.at) + insertion.text
    at = insertion.at
  }
  return text + source.slice(at)
}
