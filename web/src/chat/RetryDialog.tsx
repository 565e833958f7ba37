import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { forkSession } from '../api/sessions.ts'
import { Problem } from '../requests/Problem.tsx'
import { openLog } from '../session/open-logs.ts'
import type { SessionLog } from '../session/session-log.ts'
import { knownSession, refreshSessions, sessionList, sessionName } from '../sessions/session-list.ts'
import { notifyError } from '../state/notices.ts'
import { navigate } from '../state/route.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { variantsOf } from '../what-if/variant.ts'
import { WhatIfFields } from '../what-if/WhatIfFields.tsx'
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

/** Sends a message again in a copy of the session, which has everything that came before the message, also with other agents. */
export function RetryDialog({ row, log, onClose }: RetryDialogProps): JSX.Element {
  const [text, setText] = useState(row.parts.map((part) => part.text ?? '').join(''))
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  const session = knownSession(sessionList.value, log.key)
  const [variants, setVariants] = useState(() => variantsOf(session))
  const [isWhatIf, setWhatIf] = useState(variants.length > 0)
  const isChanged = isWhatIf && variants.length > 0
  const files = row.parts.filter((part) => part.text === undefined)
  const retry = async (): Promise<void> => {
    const { app, userId } = log.key
    const title = sessionName(session ?? { id: log.key.sessionId }).replace(/^(Copy|What if): /, '')
    const { id: sessionId } = await forkSession(log.key, {
      invocationId: row.invocationId,
      name: `${isChanged ? 'What if' : 'Copy'}: ${title}`,
      whatIf: isChanged ? variants : undefined,
    })
    await refreshSessions()
    onClose()
    navigate({ view: 'session', app, sessionId, tab: 'chat' })
    const parts = text.trim() === '' ? files : [{ text }, ...files]
    await openLog({ app, userId, sessionId }).send(parts).catch(notifyError)
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
        <details class="more" open={isWhatIf} onToggle={({ currentTarget }) => setWhatIf(currentTarget.open)}>
          <summary>What if the agents were different?</summary>
          {isWhatIf && <WhatIfFields session={log.key} variants={variants} onChange={setVariants} />}
          <p class="field-hint">
            Only in the copy. The agent file stays as it is, and tools ask for the same approvals.
          </p>
        </details>
        <Problem text={problem} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isSending || (text.trim() === '' && files.length === 0)}>
            {isChanged ? 'Run what-if' : 'Retry'} in a new session
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
