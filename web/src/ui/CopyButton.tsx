import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './Button.tsx'

/** Props of a button that copies. */
export interface CopyButtonProps {
  /** Makes the text to copy. */
  text(): string
  /** What the button says. */
  readonly children: ComponentChildren
}

/** Copies a text. */
export function CopyButton({ text, children }: CopyButtonProps): JSX.Element {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text())
    setCopied(true)
  }
  return (
    <Button kind="plain" onClick={() => void copy().catch(() => setCopied(false))}>
      {isCopied ? 'Copied' : children}
    </Button>
  )
}
