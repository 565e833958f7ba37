import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SessionKey } from '../api/types.ts'
import { openLog } from '../session/open-logs.ts'
import type { SessionLog } from '../session/session-log.ts'
import { sessionList, sessionName } from '../sessions/session-list.ts'
import { useSignal } from '../state/signal.ts'
import { formatTime } from '../ui/format.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { type InvocationItem, listInvocations } from './list-invocations.ts'

/** A run to compare with. */
export interface OtherRun {
  /** The log that has it. */
  readonly log: SessionLog
  /** The invocation. */
  readonly invocationId: string
}

/** Props of the choice of another run. */
export interface ComparePickerProps {
  /** The log of the session that is shown. */
  readonly log: SessionLog
  /** The invocation that is shown. */
  readonly invocationId: string
  /** Called with the run that the user chooses; undefined ends the comparison. */
  onChange(run: OtherRun | undefined): void
}

/** Chooses another run of this session, or of another session of the user. */
export function ComparePicker({ log, invocationId, onChange }: ComparePickerProps): JSX.Element {
  const [sessionId, setSessionId] = useState(log.key.sessionId)
  const other = useLog({ ...log.key, sessionId }, log)
  const { sessions = [] } = useSignal(sessionList)
  const items = listInvocations(useSignal(other.view).entries)
    .filter(({ id }) => other !== log || id !== invocationId)
    .toReversed()
  const [chosen, setChosen] = useState('')
  const choose = (id: string): void => {
    setChosen(id)
    onChange(id === '' ? undefined : { log: other, invocationId: id })
  }
  const chooseSession = (id: string): void => {
    setSessionId(id)
    choose('')
  }
  return (
    <div class="compare-picker">
      <label>
        <span>Session</span>
        <select value={sessionId} onChange={(event) => chooseSession(event.currentTarget.value)}>
          <option value={log.key.sessionId}>This session</option>
          {sessions
            .filter(({ id }) => id !== log.key.sessionId)
            .map((session) => (
              <option key={session.id} value={session.id}>
                {visibleLine(sessionName(session))}
              </option>
            ))}
        </select>
      </label>
      <label>
        <span>Compare with</span>
        <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">{items.length === 0 ? 'No other run' : 'Choose a run'}</option>
          {items.slice(0, 500).map((item) => (
            <option key={item.id} value={item.id}>
              {itemText(item)}
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

/** An invocation in one line. */
export function itemText({ message, startedAt }: InvocationItem): string {
  const text = visibleLine(message.trim() || 'Run without a message')
  return `${formatTime(startedAt)}  ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`
}

function useLog(key: SessionKey, own: SessionLog): SessionLog {
  const [log, setLog] = useState(own)
  useEffect(() => setLog(key.sessionId === own.key.sessionId ? own : openLog(key)), [key.sessionId, own])
  return log
}
