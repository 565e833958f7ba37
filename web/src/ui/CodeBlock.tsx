import type { JSX } from 'preact'
import { CopyButton } from './CopyButton.tsx'

/** Props of a block of code. */
export interface CodeBlockProps {
  /** The code. */
  readonly code: string
  /** The language, as the author names it. */
  readonly language?: string | undefined
}

/** A block of code with a button that copies it. */
export function CodeBlock({ code, language }: CodeBlockProps): JSX.Element {
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language?.split(/\s/)[0] || 'text'}</span>
        <CopyButton text={() => code}>Copy</CopyButton>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  )
}
