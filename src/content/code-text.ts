import type { Part } from './content.ts'

/**
 * Code and its result as text, for a model that has no such parts or that did not run the code itself.
 * Undefined when the part is neither.
 */
export function codeAsText(part: Part): string | undefined {
  const { executableCode, codeExecutionResult } = part
  if (executableCode) return fenced(executableCode.language.toLowerCase(), executableCode.code)
  if (!codeExecutionResult) return undefined
  const { outcome, output = '' } = codeExecutionResult
  return `${said[outcome] ?? 'The code ended with:'}\n${fenced('tool_output', output)}`
}

const said: Readonly<Record<string, string>> = {
  OUTCOME_OK: 'The code ran and printed:',
  OUTCOME_FAILED: 'The code failed and printed:',
  OUTCOME_DEADLINE_EXCEEDED: 'The code was stopped at its deadline, having printed:',
}

/** A fence longer than any the text holds, so that the text cannot end it. */
function fenced(label: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${label}\n${text.replace(/\n$/, '')}\n${fence}`
}
