import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from './api/api-error.ts'
import { pendingError } from './inbox/pending-store.ts'
import { connection } from './state/connection.ts'
import { dismiss, type NoticeAction, notices } from './state/notices.ts'
import { useSignal } from './state/signal.ts'
import { Button } from './ui/Button.tsx'
import { visibleText } from './ui/visible-text.ts'

/** The messages of the page, above everything else. */
export function Notices(): JSX.Element {
  const all = useSignal(notices)
  const problem = useSignal(pendingError)
  const isOnline = useSignal(connection) === 'online'
  return (
    <section class="notices" aria-label="Messages">
      <ConnectionStatus />
      {isOnline && problem !== undefined && (
        <div class="notice error" role="alert">
          <p>{visibleText(describeError(problem))}</p>
        </div>
      )}
      {all.map(({ id, kind, text, action }) => (
        <div key={id} class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
          <p>{visibleText(text)}</p>
          {action && <ActionButton action={action} onDone={() => dismiss(id)} />}
          <Button icon="close" kind="plain" label="Close the message" onClick={() => dismiss(id)} />
        </div>
      ))}
    </section>
  )
}

function ActionButton({ action, onDone }: { readonly action: NoticeAction; onDone(): void }): JSX.Element {
  const run = (): void => {
    onDone()
    action.run()
  }
  return <Button onClick={run}>{action.label}</Button>
}

/** A server that restarts is back before this time, in most cases. */
const SHOWN_AFTER_MS = 700

/** Says that the connection is lost, until it is back. The element is always there, so that screen readers notice the text. */
function ConnectionStatus(): JSX.Element {
  const state = useSignal(connection)
  const isLost = state === 'away' || state === 'locked'
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(isLost), isLost ? SHOWN_AFTER_MS : 0)
    return () => clearTimeout(timer)
  }, [isLost])
  const text = state === 'locked' ? LOCKED : 'Server away. Reconnecting…'
  return <div role="status">{isLost && isShown && <p class="notice connection">{text}</p>}</div>
}

const LOCKED = 'The server has a new token. Open the address that it printed when it started.'
