import type { JSX } from 'preact'
import { describeError } from './api/api-error.ts'
import { pendingError } from './inbox/pending-store.ts'
import { dismiss, notices } from './state/notices.ts'
import { useSignal } from './state/signal.ts'
import { Button } from './ui/Button.tsx'
import { visibleText } from './ui/visible-text.ts'

/** The messages of the page, above everything else. A lost connection is shown until it is back. */
export function Notices(): JSX.Element {
  const all = useSignal(notices)
  const connection = useSignal(pendingError)
  return (
    <section class="notices" aria-label="Messages">
      {connection !== undefined && (
        <div class="notice error" role="alert">
          <p>{visibleText(describeError(connection))}</p>
        </div>
      )}
      {all.map(({ id, kind, text }) => (
        <div key={id} class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
          <p>{visibleText(text)}</p>
          <Button icon="close" kind="plain" label="Close the message" onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  )
}
