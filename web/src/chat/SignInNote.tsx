import type { JSX } from 'preact'
import { describeAnswer } from '../../../src/core/event/read-answer.ts'
import type { CallView } from '../../../src/core/event/views/views.ts'
import type { SessionKey } from '../api/types.ts'
import { pending } from '../inbox/pending-store.ts'
import { RequestForm } from '../requests/RequestForm.tsx'
import { useSignal } from '../state/signal.ts'
import { visibleLine } from '../ui/visible-text.ts'

/** Props of the note. */
export interface SignInNoteProps {
  /** The toolset that needs a credential. */
  readonly call: CallView
  /** The session. */
  readonly sessionKey: SessionKey
}

/** A toolset that needs a credential before it lists its tools. */
export function SignInNote({ call, sessionKey }: SignInNoteProps): JSX.Element {
  const request = call.requests.at(-1)
  const open = useSignal(pending)?.find((one) => one.app === sessionKey.app && one.request.id === request?.id)
  return (
    <article class={request?.answer ? 'card' : 'card waiting'} aria-label="Sign-in">
      <header class="card-head">
        <strong>Sign-in</strong>
        {request?.answer && <span class="muted">{visibleLine(describeAnswer(request.answer))}</span>}
      </header>
      {open && <RequestForm key={open.request.id} target={open} />}
    </article>
  )
}
