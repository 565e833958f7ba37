import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { describeError } from '../api/api-error.ts'
import type { SessionFilter, SessionItem, SessionKey } from '../api/types.ts'
import { copyLinkItem } from '../copy/copy-text.ts'
import { exportJson, exportMarkdown, importSession } from '../copy/transfer.ts'
import { forgetLog } from '../session/open-logs.ts'
import { notifyError } from '../state/notices.ts'
import { userId as actingUser, chosenUser } from '../state/preferences.ts'
import { navigate, newSessionRoute, route, writeRoute } from '../state/route.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { Time } from '../ui/Time.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { SessionSearch } from './SessionSearch.tsx'
import {
  NO_FILTER,
  removeSession,
  renameSession,
  sessionList,
  sessionName,
  showMoreSessions,
  showSessions,
} from './session-list.ts'

interface Change {
  readonly session: SessionItem
  readonly to: 'rename' | 'delete'
}

/** The sessions of the user: search, open, rename, copy, export, delete, new, import. */
export function SessionItems({ app, userId }: { readonly app: string; readonly userId: string }): JSX.Element {
  const known = useSignal(sessionList)
  const [filter, setFilter] = useState<SessionFilter>(NO_FILTER)
  // the list of another app or user is not shown, not even for a moment
  const isShown = known.app === app && known.userId === userId && known.filter === filter
  const { sessions, hasMore, searched = 0, error } = isShown ? known : { ...known, sessions: undefined, hasMore: false }
  const [changing, setChanging] = useState<Change>()
  const picker = useRef<HTMLInputElement>(null)
  useEffect(() => void showSessions(app, userId, filter), [app, userId, filter])
  const isFiltered = JSON.stringify(filter) !== JSON.stringify(NO_FILTER)
  const close = (): void => setChanging(undefined)
  return (
    <nav class="sessions" aria-label="Sessions">
      <div class="sessions-head">
        <h2>Sessions</h2>
        <Button icon="plus" kind="plain" label="New session" onClick={() => navigate(newSessionRoute(app))} />
        <Menu
          label="More about sessions"
          items={() => [{ label: 'Import a session', run: () => picker.current?.click() }]}
        />
        <input
          ref={picker}
          class="visually-hidden"
          type="file"
          accept=".json"
          tabIndex={-1}
          aria-label="Session file"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0]
            if (file) importSession(app, userId, file).catch(notifyError)
            currentTarget.value = ''
          }}
        />
      </div>
      <SessionSearch filter={filter} onChange={setFilter} />
      {error !== undefined && <p class="field-issue">{describeError(error)}</p>}
      <p class="muted" role="status">
        {!sessions
          ? 'Loading…'
          : sessions.length > 0
            ? isFiltered && `${sessions.length}${hasMore ? ' so far' : ''} found`
            : isFiltered
              ? `Nothing found in ${searched} ${searched === 1 ? 'session' : 'sessions'}.`
              : 'No sessions yet.'}
      </p>
      <ul>
        {sessions?.map((session) => (
          <Item
            key={`${session.userId} ${session.id}`}
            {...{ app, session }}
            showsUser={filter.allUsers}
            onChange={setChanging}
          />
        ))}
      </ul>
      {hasMore && (
        <Button kind="plain" onClick={() => void showMoreSessions()}>
          Show more
        </Button>
      )}
      {changing?.to === 'rename' && <RenameDialog app={app} session={changing.session} onClose={close} />}
      {changing?.to === 'delete' && <DeleteDialog app={app} session={changing.session} onClose={close} />}
    </nav>
  )
}

interface ItemProps {
  readonly app: string
  readonly session: SessionItem
  readonly showsUser: boolean
  onChange(change: Change): void
}

function Item({ app, session, showsUser, onChange }: ItemProps): JSX.Element {
  const now = useSignal(route)
  const user = useSignal(actingUser)
  const { id, userId, state, match, lastUpdateTime } = session
  const isShown = now.view === 'session' && now.sessionId === id && user === userId
  const name = visibleLine(sessionName(session))
  const key = keyOf(app, session)
  const items = (): MenuItem[] => [
    { label: 'Rename', run: () => onChange({ session, to: 'rename' }) },
    copyLinkItem(key),
    { label: 'Export as JSON', run: () => exportJson(key, sessionName(session)) },
    { label: 'Export as Markdown', run: () => exportMarkdown(key, sessionName(session)) },
    { label: 'Delete', run: () => onChange({ session, to: 'delete' }) },
  ]
  return (
    <li class={isShown ? 'session-item shown' : 'session-item'}>
      <a
        href={writeRoute({
          view: 'session',
          app,
          sessionId: id,
          tab: 'chat',
          ...((userId !== user || userId !== chosenUser()) && { userId }),
        })}
        aria-current={isShown ? 'page' : undefined}
      >
        <span class={`dot ${state}`} title={state} aria-hidden="true" />
        <span class="session-name">
          {name}
          <small class="muted">
            <Time seconds={lastUpdateTime} />
            {showsUser && ` · ${visibleLine(userId)}`}
            {match && ` · ${visibleLine(match)}`}
          </small>
        </span>
        <span class="visually-hidden">{state}</span>
      </a>
      <Menu label={`Actions of ${name}`} items={items} />
    </li>
  )
}

interface ChangeProps {
  readonly app: string
  readonly session: SessionItem
  onClose(): void
}

function RenameDialog({ app, session, onClose }: ChangeProps): JSX.Element {
  const [name, setName] = useState(sessionName(session))
  const save = (event: Event): void => {
    event.preventDefault()
    renameSession(keyOf(app, session), name.trim()).then(onClose, notifyError)
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

function DeleteDialog({ app, session, onClose }: ChangeProps): JSX.Element {
  const remove = async (): Promise<void> => {
    const key = keyOf(app, session)
    await removeSession(key)
    forgetLog(key)
    const { value } = route
    if (value.view === 'session' && value.sessionId === session.id) navigate(newSessionRoute(app))
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

function keyOf(app: string, { userId, id }: SessionItem): SessionKey {
  return { app, userId, sessionId: id }
}
