import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import { updateState } from '../api/sessions.ts'
import type { SessionLog } from '../session/session-log.ts'
import { Button } from '../ui/Button.tsx'
import type { StateItem } from './state-history.ts'

/** Props of the editor. */
export interface StateEditorProps {
  /** The session. */
  readonly log: SessionLog
  /** The key to edit. Undefined: a new one. */
  readonly item?: StateItem | undefined
  /** Called when the state is saved, or the user gives up. */
  onClose(): void
}

/** Edits one key of the state as JSON. The change is recorded as an event of the user. */
export function StateEditor({ log, item, onClose }: StateEditorProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea')?.focus(), [])
  const [key, setKey] = useState(item?.key ?? '')
  const [text, setText] = useState(item?.value === undefined ? '' : JSON.stringify(item.value, null, 2))
  const [problem, setProblem] = useState('')
  const [isSending, setSending] = useState(false)
  const send = async (value: unknown): Promise<void> => {
    setSending(true)
    try {
      await updateState(log.key, Object.fromEntries([[key, value]]))
      await log.sync()
      onClose()
    } catch (error) {
      setProblem(describeError(error))
      setSending(false)
    }
  }
  const save = (event: Event): void => {
    event.preventDefault()
    const value = readJson(text)
    if (key.trim() === '') setProblem('Enter a key.')
    else if (value === undefined) setProblem('Enter JSON: text needs quotation marks.')
    else void send(value)
  }
  return (
    <form ref={form} class="state-editor" onSubmit={save}>
      {!item && (
        <label class="field">
          Key
          <input value={key} maxLength={500} onInput={(event) => setKey(event.currentTarget.value)} />
        </label>
      )}
      <label class="field">
        Value as JSON
        <textarea class="code" rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {problem !== '' && (
        <p class="field-issue" role="alert">
          {problem}
        </p>
      )}
      <div class="request-actions">
        <Button kind="primary" type="submit" disabled={isSending}>
          Save
        </Button>
        <Button onClick={onClose}>Cancel</Button>
        {item && item.value !== undefined && (
          <Button kind="danger" icon="trash" disabled={isSending} onClick={() => void send(null)}>
            Delete the key
          </Button>
        )}
      </div>
    </form>
  )
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
