import './evals.css'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { recordSession } from '../api/evals.ts'
import type { SessionKey } from '../api/types.ts'
import { Problem } from '../requests/Problem.tsx'
import { notify } from '../state/notices.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { visibleLine } from '../ui/visible-text.ts'

const TITLE = 'Save as evaluation'

/** A button that makes a case of a session. */
export function SaveEvaluation({ session }: { readonly session: SessionKey }): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button class="save-case" kind="plain" icon="check" label={TITLE} onClick={() => setOpen(true)}>
        <span>{TITLE}</span>
      </Button>
      {isOpen && <SaveDialog session={session} onClose={() => setOpen(false)} />}
    </>
  )
}

function SaveDialog({ session, onClose }: { readonly session: SessionKey; onClose(): void }): JSX.Element {
  const [set, setSet] = useState(session.app)
  const [evalId, setEvalId] = useState(session.sessionId)
  const [replace, setReplace] = useState(false)
  const [problem, setProblem] = useState('')
  const [isSaving, setSaving] = useState(false)
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    setSaving(true)
    try {
      const file = await recordSession(session, { set, evalId, replace })
      notify(`Case ${visibleLine(evalId)} is in ${file}.`)
      onClose()
    } catch (error) {
      setProblem(describeError(error))
      setSaving(false)
    }
  }
  return (
    <Dialog title={TITLE} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <label class="field">
          Case
          <input required value={evalId} onInput={(event) => setEvalId(event.currentTarget.value)} />
        </label>
        <label class="field">
          Eval set
          <input required value={set} onInput={(event) => setSet(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={replace} onChange={(event) => setReplace(event.currentTarget.checked)} />
          Replace a case with this id
        </label>
        <p class="field-hint">The session is written to {visibleLine(set)}.evalset.json, beside the agent.</p>
        <Problem text={problem} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isSaving}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
