import type { JSX } from 'preact'
import { visibleText } from '../ui/visible-text.ts'

/** What is wrong, announced at once. Nothing if the text is empty. */
export function Problem({ text }: { readonly text: string }): JSX.Element | null {
  if (text === '') return null
  return (
    <p class="problem" role="alert">
      {visibleText(text)}
    </p>
  )
}
