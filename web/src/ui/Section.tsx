import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from './Icon.tsx'
import { visibleText } from './visible-text.ts'

/** Props of a section. */
export interface SectionProps {
  /** The name. */
  readonly title: string
  /** Is it open until the user opens or closes it? Default false. */
  readonly isOpen?: boolean
  /** What a closed section shows in one line. */
  readonly summary?: string
  /** The contents. They are drawn while the section is open. */
  readonly children: ComponentChildren
}

/** A part of a card that opens and closes. */
export function Section({ title, isOpen = false, summary, children }: SectionProps): JSX.Element {
  const [opened, setOpened] = useState<boolean>()
  const isShown = opened ?? isOpen
  return (
    <div class="card-section">
      <button type="button" class="section-toggle" aria-expanded={isShown} onClick={() => setOpened(!isShown)}>
        <Icon name="chevron" /> {title}
        {!isShown && summary !== undefined && <span class="summary">{summary}</span>}
      </button>
      {isShown && <div class="section-body">{children}</div>}
    </div>
  )
}

/** A long text that is shown as it is, and scrolled with the keyboard. */
export function PlainText({ text }: { readonly text: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled with the keyboard
    <pre class="file-text" tabIndex={0}>
      {visibleText(text)}
    </pre>
  )
}
