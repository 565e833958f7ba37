import type { Part } from '../../content/content.ts'

/** Other words for the languages executors name. `tool_code` is what some models write for any. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['js', 'javascript'],
  ['node', 'javascript'],
  ['mjs', 'javascript'],
  ['py', 'python'],
  ['python3', 'python'],
  ['sh', 'bash'],
  ['shell', 'bash'],
])

/**
 * A text whose fenced blocks in these languages become code to run. What follows the last block is dropped: it was
 * written before the result was known. Undefined when there is no such block.
 */
export function readFencedCode(text: string, languages: readonly string[]): Part[] | undefined {
  const parts: Part[] = []
  const lines = text.split('\n')
  let said: string[] = []
  const unclosed = new Map<string, number>() // how long a fence of this character is that nothing further down closes
  for (let at = 0; at < lines.length; at++) {
    const open = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*\r?$/.exec(lines[at] as string)
    const fence = open?.[1] ?? ''
    const isUnclosed = fence.length >= (unclosed.get(fence.charAt(0)) ?? Number.POSITIVE_INFINITY)
    const end = open && !isUnclosed ? endOf(lines, at, fence) : undefined
    if (open && end === undefined && !isUnclosed) unclosed.set(fence.charAt(0), fence.length)
    if (!open || end === undefined) {
      said.push(lines[at] as string)
      continue
    }
    const language = languageOf(open[2] as string, languages)
    if (language === undefined) for (let line = at; line <= end; line++) said.push(lines[line] as string)
    else {
      const before = said.join('\n').trim()
      if (before) parts.push({ text: before })
      parts.push({ executableCode: { language, code: lines.slice(at + 1, end).join('\n') } })
      said = []
    }
    at = end
  }
  return parts.length ? parts : undefined
}

function endOf(lines: readonly string[], open: number, fence: string): number | undefined {
  for (let at = open + 1; at < lines.length; at++) {
    const close = /^ {0,3}(`{3,}|~{3,})[ \t]*\r?$/.exec(lines[at] as string)?.[1]
    if (close?.startsWith(fence)) return at
  }
  return undefined
}

function languageOf(label: string, languages: readonly string[]): string | undefined {
  const said = label.toLowerCase()
  if (said === 'tool_code') return languages[0]
  const meant = aliases.get(said) ?? said
  return languages.find((one) => one.toLowerCase() === said || one.toLowerCase() === meant)
}
