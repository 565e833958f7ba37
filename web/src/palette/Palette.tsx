import type { JSX } from 'preact'
import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { getGraph } from '../api/dev.ts'
import { findSessions } from '../api/sessions.ts'
import type { GraphAgent, SessionItem } from '../api/types.ts'
import { sessionList } from '../sessions/session-list.ts'
import { userId } from '../state/preferences.ts'
import { appsOf, server } from '../state/server.ts'
import { shortcuts } from '../state/shortcuts.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { type Command, filterCommands, listCommands } from './commands.ts'

const MOST_SHOWN = 50
/** A pause in typing. */
const PAUSE_MS = 200

/** Finds sessions, tools, agents and actions by typing. */
export function Palette({ app, onClose }: { readonly app: string; onClose(): void }): JSX.Element {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [root, setRoot] = useState<GraphAgent>()
  const [sessions, setSessions] = useState(sessionList.value.sessions ?? [])
  const listId = useId()
  useEffect(
    () =>
      void getGraph(app).then(
        ({ root_agent }) => setRoot(root_agent),
        () => {},
      ),
    [app],
  )
  useSearch(app, text, setSessions)
  const all = useMemo(
    () =>
      listCommands({
        ...{ app, root, sessions },
        userId: userId.value,
        apps: appsOf(server.value).map(({ name }) => name),
        shortcuts: shortcuts.value,
      }),
    [app, root, sessions],
  )
  const found = useMemo(() => filterCommands(all, text).slice(0, MOST_SHOWN), [all, text])
  const chosen = Math.min(at, found.length - 1)
  const run = (command: Command | undefined): void => {
    if (!command) return
    onClose()
    setTimeout(() => command.run()) // after the focus has returned
  }
  const move = (event: KeyboardEvent): void => {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, Enter: chosen }[event.key]
    if (to === undefined || event.isComposing) return
    event.preventDefault()
    if (event.key === 'Enter') run(found[chosen])
    else setAt((to + found.length) % found.length)
  }
  useEffect(() => document.getElementById(`${listId}${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen])
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Sessions, tools, agents and actions"
        placeholder="Sessions, tools, agents and actions"
        aria-autocomplete="list"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}${chosen}` : undefined}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setAt(0)
        }}
        onKeyDown={move}
      />
      <div class="palette" role="listbox" id={listId} aria-label="Results">
        {found.map((command, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field has the focus and the keys
          <div
            key={`${command.kind} ${command.label} ${command.detail} ${place}`}
            role="option"
            id={`${listId}${place}`}
            aria-selected={place === chosen}
            onClick={() => run(command)}
          >
            <span class="muted">{command.kind}</span>
            <span>{visibleLine(command.label)}</span>
            {command.detail && <small class="muted">{visibleLine(command.detail)}</small>}
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {found.length === 0 ? 'Nothing found.' : `${found.length} found`}
      </p>
    </Dialog>
  )
}

/** The sessions of the user that have the text somewhere, as the server finds them. */
function useSearch(app: string, text: string, onFound: (sessions: readonly SessionItem[]) => void): void {
  useEffect(() => {
    if (text.trim().length < 2) return
    let isCurrent = true
    const search = async (): Promise<void> => {
      const { sessions } = await findSessions({ app, userId: userId.value, text })
      // the text may be in a message that is not shown
      if (isCurrent) onFound(sessions.map((session) => ({ ...session, match: session.match ?? text })))
    }
    const timer = setTimeout(() => void search().catch(() => {}), PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [app, text])
}
