import type { Part } from '../../../core/content/content.ts'

/** Other labels for the languages of executors. */
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
 * Turns the fenced blocks of a text into code parts if their language is one of `languages`. Text after the last block
 * is dropped, because the model wrote it before it knew the result. Undefined if there is no such block.
 */
export function readFencedCode(text: string, languages: readonly string[]): Part[] | undefined {
  const parts: Part[] = []
  const lines = text.split('\n')
  let before: string[] = []
  const unclosed = new Map<string, number>() // length of the shortest fence of this character that no later line closes
  for (let at = 0; at < lines.length; at++) {
    const open = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*\r?$/.exec(lines[at] as string)
    const fence = open?.[1] ?? ''
    const isUnclosed = fence.length >= (unclosed.get(fence.charAt(0)) ?? Number.POSITIVE_INFINITY)
    const end = open && !isUnclosed ? findClosingFence(lines, at, fence) : undefined
    if (open && end === undefined && !isUnclosed) unclosed.set(fence.charAt(0), fence.length)
    if (!open || end === undefined) {
      before.push(lines[at] as string)
      continue
    }
    const language = languageOf(open[2] as string, languages)
    if (language === undefined) for (let line = at; line <= end; line++) before.push(lines[line] as string)
    else {
      const textBefore = before.join('\n').trim()
      if (textBefore) parts.push({ text: textBefore })
      parts.push({ executableCode: { language, code: lines.slice(at + 1, end).join('\n') } })
      before = []
    }
    at = end
  }
  return parts.length ? parts : undefined
}

function findClosingFence(lines: readonly string[], open: number, fence: string): number | undefined {
  for (let at = open + 1; at < lines.length; at++) {
    const close = /^ {0,3}(`{3,}|~{3,})[ \t]*\r?$/.exec(lines[at] as string)?.[1]
    if (close?.startsWith(fence)) return at
  }
  return undefined
}

function languageOf(label: string, languages: readonly string[]): string | undefined {
  const lower = label.toLowerCase()
  if (lower === 'tool_code') return languages[0] // some models use this label for any language
  const known = aliases.get(lower) ?? lower
  return languages.find((language) => language.toLowerCase() === lower || language.toLowerCase() === known)
}
