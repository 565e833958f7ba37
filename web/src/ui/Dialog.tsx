import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './Button.tsx'

/** Props of a dialog. */
export interface DialogProps {
  /** The heading. */
  readonly title: string
  /** `wide` has room for code. Default `narrow`. */
  readonly size?: 'wide' | 'narrow'
  /** Called when the user closes the dialog. */
  onClose(): void
  /** The contents. */
  readonly children: ComponentChildren
}

/** A modal dialog. It is open while it is rendered. The focus goes to its first field, and returns when it closes. */
export function Dialog({ title, size = 'narrow', onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    element?.showModal()
    element?.querySelector<HTMLElement>('.dialog-body :is(input, textarea, button)')?.focus() // not the button that closes
    return () => {
      element?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${size}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <Button icon="close" kind="plain" label="Close" onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}
