import type { JSX } from 'preact'
import type { SessionKey } from '../api/types.ts'
import { pending } from '../inbox/pending-store.ts'
import { RequestForm } from '../requests/RequestForm.tsx'
import { useSignal } from '../state/signal.ts'
import type { AnsweredRequest } from './rows.ts'

/** Props of a request without a call. */
export interface RequestNoteProps {
  /** The request. */
  readonly request: AnsweredRequest
  /** The session. */
  readonly sessionKey: SessionKey
}

/** A request without a call, such as the consent of a toolset. */
export function RequestNote({ request, sessionKey }: RequestNoteProps): JSX.Element {
  const { record, answer } = request
  const open = useSignal(pending)?.find((one) => one.app === sessionKey.app && one.request.id === record.id)
  const title = record.kind === 'credential' ? 'Sign-in' : 'Request'
  return (
    <article class={answer ? 'card' : 'card waiting'} aria-label={title}>
      <header class="card-head">
        <strong>{title}</strong>
        {answer && <span class="muted">{answer.type}</span>}
      </header>
      {open && <RequestForm key={record.id} target={open} />}
    </article>
  )
}
