import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { Problem } from '../requests/Problem.tsx'
import { openLog } from '../session/open-logs.ts'
import type { SessionLog } from '../session/session-log.ts'
import { copySession } from '../sessions/session-list.ts'
import { notifyError } from '../state/notices.ts'
import { navigate } from '../state/route.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import type { UserRow } from './rows.ts'

/** Props of the dialog. */
export interface RetryDialogProps {
  /** The message to send again. */
  readonly row: UserRow
  /** Its session. */
  readonly log: SessionLog
  /** Called when the dialog closes. */
  onClose(): void
}

/** Sends a message again in a new session, which has everything that came before the message. */
export function RetryDialog({ row, log, onClose }: RetryDialogProps): JSX.Element {
  const [text, setText] = useState(row.parts.map((part) => part.text ?? '').join(''))
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  const files = row.parts.filter((part) => part.text === undefined)
  const retry = async (): Promise<void> => {
    const copy = await copySession(log.key, row.invocationId)
    onClose()
    navigate({ view: 'session', app: copy.app, sessionId: copy.sessionId, tab: 'chat' })
    const parts = text.trim() === '' ? files : [{ text }, ...files]
    await openLog(copy).send(parts).catch(notifyError)
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    setSending(true)
    retry().catch((error: unknown) => {
      setSending(false)
      setProblem(describeError(error))
    })
  }
  return (
    <Dialog title="Retry from here" onClose={onClose}>
      <form onSubmit={submit}>
        <label class="field">
          Message
          <textarea rows={5} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <p class="field-hint">
          A new session is created with everything before this message
          {files.length > 0 ? '. Its files are sent again' : ''}.
        </p>
        <Problem text={problem} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isSending || (text.trim() === '' && files.length === 0)}>
            Retry in a new session
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
