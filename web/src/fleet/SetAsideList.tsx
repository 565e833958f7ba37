import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SetAsideSession } from '../../../src/services/session/service.ts'
import { retrySession } from '../api/fleet.ts'
import { notify, notifyError } from '../state/notices.ts'
import { Button } from '../ui/Button.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'

/** Props of the list. */
export interface SetAsideListProps {
  /** The app. */
  readonly app: string
  /** The sessions that workers leave alone. */
  readonly sessions: readonly SetAsideSession[]
  /** Called when one of them may be continued again. */
  onRetried(): void
}

/** Sessions that workers leave alone, with the reasons, and a button that lets workers try again. */
export function SetAsideList({ app, sessions, onRetried }: SetAsideListProps): JSX.Element {
  return (
    <section>
      <h2>Set aside</h2>
      <ul class="set-aside">
        {sessions.map((session) => (
          <li key={`${session.userId} ${session.sessionId}`}>
            <Item app={app} session={session} onRetried={onRetried} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Item({
  app,
  session,
  onRetried,
}: Omit<SetAsideListProps, 'sessions'> & { readonly session: SetAsideSession }): JSX.Element {
  const [isSending, setSending] = useState(false)
  const name = visibleLine(`${session.userId} / ${session.sessionId}`)
  const retry = async (): Promise<void> => {
    setSending(true)
    try {
      await retrySession(app, session)
      notify(`A worker continues ${name}.`)
      onRetried()
    } catch (error) {
      notifyError(error)
    } finally {
      setSending(false)
    }
  }
  return (
    <article class="card failed" aria-label={name}>
      <strong>{name}</strong>
      <p class="reason">
        <VisibleText text={session.reason} />
      </p>
      <div>
        <Button icon="retry" disabled={isSending} onClick={() => void retry()}>
          Retry
        </Button>
      </div>
    </article>
  )
}
