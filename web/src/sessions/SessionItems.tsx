import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import type { WireSession } from '../api/types.ts'
import { forgetLog } from '../session/open-logs.ts'
import { notifyError } from '../state/notices.ts'
import { navigate, newSessionRoute, route, writeRoute } from '../state/route.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Time } from '../ui/Time.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import {
  removeSession,
  renameSession,
  sessionList,
  sessionName,
  showMoreSessions,
  showSessions,
} from './session-list.ts'

const STEP = 100

/** The sessions of the user: open, rename, delete, new. */
export function SessionItems({ app, userId }: { readonly app: string; readonly userId: string }): JSX.Element {
  const known = useSignal(sessionList)
  // the list of another app or user is not shown, not even for a moment
  const list = known.app === app && known.userId === userId ? known : { sessions: undefined, hasMore: false }
  const [shown, setShown] = useState(STEP)
  const [changing, setChanging] = useState<{ session: WireSession; to: 'rename' | 'delete' }>()
  useEffect(() => {
    setShown(STEP)
    void showSessions(app, userId)
  }, [app, userId])
  const sessions = list.sessions ?? []
  const showMore = (): void => {
    setShown(shown + STEP)
    if (list.hasMore) void showMoreSessions()
  }
  return (
    <nav class="sessions" aria-label="Sessions">
      <div class="sessions-head">
        <h2>Sessions</h2>
        <Button icon="plus" kind="plain" label="New session" onClick={() => navigate(newSessionRoute(app))} />
      </div>
      {known.error !== undefined && <p class="field-issue">{describeError(known.error)}</p>}
      {list.sessions?.length === 0 && <p class="muted">No sessions yet.</p>}
      <ul>
        {sessions.slice(0, shown).map((session) => (
          <Item
            key={session.id}
            {...{ app, session }}
            onRename={() => setChanging({ session, to: 'rename' })}
            onDelete={() => setChanging({ session, to: 'delete' })}
          />
        ))}
      </ul>
      {(sessions.length > shown || list.hasMore) && (
        <Button kind="plain" onClick={showMore}>
          Show more
        </Button>
      )}
      {changing?.to === 'rename' && <RenameDialog session={changing.session} onClose={() => setChanging(undefined)} />}
      {changing?.to === 'delete' && <DeleteDialog session={changing.session} onClose={() => setChanging(undefined)} />}
    </nav>
  )
}

interface ItemProps {
  readonly app: string
  readonly session: WireSession
  onRename(): void
  onDelete(): void
}

function Item({ app, session, onRename, onDelete }: ItemProps): JSX.Element {
  const now = useSignal(route)
  const isShown = now.view === 'session' && now.sessionId === session.id
  const name = visibleLine(sessionName(session))
  return (
    <li class={isShown ? 'session-item shown' : 'session-item'}>
      <a
        href={writeRoute({ view: 'session', app, sessionId: session.id, tab: 'chat' })}
        aria-current={isShown ? 'page' : undefined}
      >
        <span class="session-name">{name}</span>
        <Time seconds={session.lastUpdateTime} />
      </a>
      <Button icon="edit" kind="plain" label={`Rename ${name}`} onClick={onRename} />
      <Button icon="trash" kind="plain" label={`Delete ${name}`} onClick={onDelete} />
    </li>
  )
}

interface ChangeProps {
  readonly session: WireSession
  onClose(): void
}

function RenameDialog({ session, onClose }: ChangeProps): JSX.Element {
  const [name, setName] = useState(sessionName(session))
  const save = (event: Event): void => {
    event.preventDefault()
    renameSession(keyOf(session), name.trim()).then(onClose, notifyError)
  }
  return (
    <Dialog title="Rename session" onClose={onClose}>
      <form onSubmit={save}>
        <label class="field">
          Name
          <input value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function DeleteDialog({ session, onClose }: ChangeProps): JSX.Element {
  const remove = async (): Promise<void> => {
    const key = keyOf(session)
    await removeSession(key)
    forgetLog(key)
    const { value } = route
    if (value.view === 'session' && value.sessionId === session.id) navigate(newSessionRoute(session.appName))
    onClose()
  }
  return (
    <Dialog title="Delete session" onClose={onClose}>
      <p>Delete “{visibleLine(sessionName(session))}” with its events and artifacts? This cannot be undone.</p>
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" onClick={() => remove().catch(notifyError)}>
          Delete
        </Button>
      </div>
    </Dialog>
  )
}

function keyOf({ appName, userId, id }: WireSession) {
  return { app: appName, userId, sessionId: id }
}
