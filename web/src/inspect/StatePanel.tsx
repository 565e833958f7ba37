import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { JsonObject } from '../../../src/core/base/json.ts'
import { getSessionState } from '../api/sessions.ts'
import type { WireSession } from '../api/types.ts'
import type { SessionLog } from '../session/session-log.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { METADATA } from '../sessions/session-list.ts'
import { notifyError } from '../state/notices.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Time } from '../ui/Time.tsx'
import { Tree } from '../ui/Tree.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { StateEditor } from './StateEditor.tsx'
import { type StateChange, type StateItem, scopeOf, stateHistory, stateItems } from './state-history.ts'

/** Keys, and changes of a key, are shown in steps of this size. */
const STEP = 100

/** The state of the session: each key with its value and its changes. */
export function StatePanel({ log }: SessionTabProps): JSX.Element {
  const view = useSignal(log.view)
  const [state, setState] = useState<JsonObject>()
  const history = useMemo(() => stateHistory(view.entries), [view.entries])
  const items = useMemo(() => stateItems(state ?? {}, history).filter(({ key }) => key !== METADATA), [state, history])
  const [isAdding, setAdding] = useState(false)
  const [shown, setShown] = useState(STEP)
  useEffect(() => {
    let isCurrent = true
    const set = (session: WireSession): void => void (isCurrent && setState(session.state))
    getSessionState(log.key).then(set, notifyError)
    return () => {
      isCurrent = false
    }
  }, [log, view.entries])
  return (
    <div>
      <div class="inspect-bar">
        <p class="muted">
          {items.length === 0 ? 'The state is empty.' : `${items.length} ${items.length === 1 ? 'key' : 'keys'}`}
        </p>
        {view.hasEarlier && <Button onClick={() => void log.loadEarlier()}>Load earlier changes</Button>}
        <Button icon="plus" onClick={() => setAdding(true)}>
          Add a key
        </Button>
      </div>
      {isAdding && <StateEditor log={log} onClose={() => setAdding(false)} />}
      <ul class="state-items">
        {items.slice(0, shown).map((item) => (
          <StateRow key={item.key} item={item} log={log} isComplete={!view.hasEarlier} />
        ))}
      </ul>
      {items.length > shown && <Button onClick={() => setShown(shown + STEP)}>Show more keys</Button>}
    </div>
  )
}

interface RowProps {
  readonly item: StateItem
  readonly log: SessionLog
  readonly isComplete: boolean
}

function StateRow({ item, log, isComplete }: RowProps): JSX.Element {
  const { key, value, changes } = item
  const [isEditing, setEditing] = useState(false)
  const [shown, setShown] = useState(STEP)
  const scope = scopeOf(key)
  return (
    <li class="state-item">
      <p class="state-key">
        <code>{visibleLine(key)}</code>
        {scope !== 'session' && <span class="diff-tag">{scope === 'app' ? 'all users' : 'all sessions'}</span>}
      </p>
      <Button kind="plain" icon="edit" label={`Edit ${visibleLine(key)}`} onClick={() => setEditing(!isEditing)} />
      {isEditing ? (
        <StateEditor log={log} item={item} onClose={() => setEditing(false)} />
      ) : value === undefined ? (
        <p class="muted">deleted</p>
      ) : (
        <Tree label={`Value of ${visibleLine(key)}`} value={value} openLevels={1} />
      )}
      {changes.length > 0 && (
        <details>
          <summary>
            {changes.length} {changes.length === 1 ? 'change' : 'changes'}
          </summary>
          <ol class="state-changes">
            {changes
              .toReversed()
              .slice(0, shown)
              .map((change, at) => (
                <Change key={change.eventId} change={change} isFirst={at === changes.length - 1} {...{ isComplete }} />
              ))}
          </ol>
          {changes.length > shown && <Button onClick={() => setShown(shown + STEP)}>Show earlier changes</Button>}
        </details>
      )}
    </li>
  )
}

interface ChangeProps {
  readonly change: StateChange
  readonly isFirst: boolean
  readonly isComplete: boolean
}

function Change({ change, isFirst, isComplete }: ChangeProps): JSX.Element {
  const { author, at, before, after } = change
  return (
    <li>
      <p>
        <strong>{visibleLine(author)}</strong> <Time seconds={at} />
      </p>
      <div class="both">
        {before === undefined || before === null ? (
          <p class="muted">{isFirst ? (isComplete ? 'initial value' : 'not loaded') : 'no value'}</p>
        ) : (
          <Tree label="Before" value={before} openLevels={1} />
        )}
        {after === null ? <p class="muted">deleted</p> : <Tree label="After" value={after} openLevels={1} />}
      </div>
    </li>
  )
}
