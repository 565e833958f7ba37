import type { Part } from './content.ts'

/**
 * Code or the result of code as text, for a model without such parts and for a model that did not run the code itself.
 * Undefined for other parts.
 */
export function codeAsText(part: Part): string | undefined {
  const { executableCode, codeExecutionResult } = part
  if (executableCode) return fenced(executableCode.language.toLowerCase(), executableCode.code)
  if (!codeExecutionResult) return undefined
  const { outcome, output = '' } = codeExecutionResult
  return `${INTRODUCTIONS[outcome] ?? 'The code ended with:'}\n${fenced('tool_output', output)}`
}

const INTRODUCTIONS: Readonly<Record<string, string>> = {
  OUTCOME_OK: 'The code ran and printed:',
  OUTCOME_FAILED: 'The code failed and printed:',
  OUTCOME_DEADLINE_EXCEEDED: 'The code was stopped at its deadline. It printed:',
}

/** A code block. Its fence is longer than any fence in the text, so that the text cannot end the block. */
function fenced(label: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${label}\n${text.replace(/\n$/, '')}\n${fence}`
}
