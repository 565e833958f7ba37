import './calls.css'
import type { JSX } from 'preact'
import type { CallView } from '../../../src/core/event/views/views.ts'
import { getCallNotes } from '../api/calls.ts'
import type { SessionKey } from '../api/types.ts'
import { formatDuration } from '../ui/format.ts'
import { visibleLine, visibleText } from '../ui/visible-text.ts'
import { useLoaded } from './use-loaded.ts'

/** Props of the details of a call. */
export interface CallDetailsProps {
  /** The call. */
  readonly call: CallView
  /** Its session. */
  readonly sessionKey: SessionKey
}

/** How a call went: its gates, its effect, what its policies did and what its tool logged. */
export function CallDetails({ call, sessionKey }: CallDetailsProps): JSX.Element {
  const { status, endedAt, starts, madeAt, requests, gate } = call
  const { value } = useLoaded(() => getCallNotes(sessionKey, call.id), [sessionKey.sessionId, call.id, status, endedAt])
  const { effect, isCached, notes = [], dropped = 0 } = value ?? {}
  const asked = requests.filter(({ origin }) => origin === 'gate').map(({ kind }) => kind)
  return (
    <ol class="call-notes">
      <li>
        {effect !== undefined && `Effect: ${visibleLine(effect)}. `}
        Gates: {asked.length > 0 ? `asked for ${asked}, ${gate}` : gate}. Intents: {starts}.
      </li>
      {isCached && <li>A policy gave the result of an equal call.</li>}
      {notes.map(({ at, type, text }, place) => (
        <li key={place}>
          <span class="muted">{formatDuration(at - madeAt * 1000)}</span> {LABELS[type]}
          {visibleText(text)}
        </li>
      ))}
      {dropped > 0 && <li>{dropped} more</li>}
    </ol>
  )
}

const LABELS: { readonly [type: string]: string } = {
  queued: 'waits for its turn: ',
  admitted: 'got its turn: ',
  progress: 'progress: ',
}
