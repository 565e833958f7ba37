import type { JSX } from 'preact'
import { visibleText } from '../ui/visible-text.ts'

/** What the tool asks. The default question of the framework says no more than the card around it. */
export function Question({
  tool,
  hint,
}: {
  readonly tool: string
  readonly hint: string | undefined
}): JSX.Element | null {
  if (hint === undefined || hint === `Approve execution of tool \`${tool}\`?`) return null
  return <p class="question">{visibleText(hint)}</p>
}
