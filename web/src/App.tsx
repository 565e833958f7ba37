import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { describeError } from './api/api-error.ts'
import type { Changes } from './api/changes.ts'
import type { SessionKey } from './api/types.ts'
import { followServer } from './follow-server.ts'
import { pendingError, refreshPending } from './inbox/pending-store.ts'
import { MainView } from './MainView.tsx'
import { Notices } from './Notices.tsx'
import { Palette } from './palette/Palette.tsx'
import { ShortcutList } from './ShortcutList.tsx'
import { reopenLogs, updateLog } from './session/open-logs.ts'
import { refreshSessions } from './sessions/session-list.ts'
import { Sidebar } from './sidebar/Sidebar.tsx'
import { navigate, newSessionRoute, route } from './state/route.ts'
import { appsOf, loadServer, server } from './state/server.ts'
import { handleKey, useShortcuts } from './state/shortcuts.ts'
import { useSignal } from './state/signal.ts'
import { Button } from './ui/Button.tsx'

/** The page. */
export function App(): JSX.Element {
  const info = useSignal(server)
  const shown = useSignal(route)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [showsKeys, setShowsKeys] = useState(false)
  const [isFinding, setFinding] = useState(false)
  useStart()
  const app = appNow()
  useShortcuts([
    { keys: '?', label: 'Show the keyboard shortcuts', run: () => setShowsKeys(true) },
    { keys: 'g i', label: 'Go to the inbox', run: () => navigate({ view: 'inbox' }) },
    { keys: 'g b', label: 'Go to the tool bench', run: () => app && navigate({ view: 'bench', app }) },
    { keys: 'g f', label: 'Go to the fleet', run: () => app && navigate({ view: 'fleet', app }) },
    { keys: 'g s', label: 'Go to the statistics', run: () => app && navigate({ view: 'stats', app }) },
    { keys: 'f', label: 'Search sessions', run: () => document.querySelector<HTMLElement>('[type=search]')?.focus() },
    { keys: 'g e', label: 'Go to the evaluations', run: () => app && navigate({ view: 'evals', app }) },
    { keys: 'n', label: 'New session', run: () => app && navigate(newSessionRoute(app)) },
  ])
  useEffect(() => setMenuOpen(false), [shown])
  useEffect(() => {
    const find = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) setFinding(true)
    }
    addEventListener('keydown', find)
    return () => removeEventListener('keydown', find)
  }, [])
  if (info instanceof Error)
    return (
      <main class="failure">
        <h1>The server does not answer</h1>
        <p>{describeError(info)}</p>
        <Button kind="primary" onClick={() => void loadServer()}>
          Try again
        </Button>
      </main>
    )
  return (
    <div class={isMenuOpen ? 'page menu-open' : 'page'}>
      <Button class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </Button>
      <Sidebar app={app} onShowKeys={() => setShowsKeys(true)} onFind={() => setFinding(true)} />
      <button type="button" class="backdrop" aria-label="Close the menu" onClick={() => setMenuOpen(false)} />
      <main class="main" id="main" tabIndex={-1}>
        <Button
          class="menu-button"
          icon="menu"
          kind="plain"
          label="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        />
        {info && <MainView route={shown} />}
      </main>
      <Notices />
      {isFinding && app !== undefined && <Palette app={app} onClose={() => setFinding(false)} />}
      {showsKeys && <ShortcutList onClose={() => setShowsKeys(false)} />}
    </div>
  )
}

/** Reads the apps and requests, and listens to the keyboard. */
function useStart(): void {
  useEffect(() => {
    void readServer()
    addEventListener('keydown', handleKey)
    const stop = followServer({ onOnline, onChanges })
    return () => {
      stop()
      removeEventListener('keydown', handleKey)
    }
  }, [])
}

/** Reads the apps, then what they have. */
async function readServer(): Promise<void> {
  await loadServer()
  const [first] = appsOf(server.value)
  if (first && route.value.view === 'home') navigate(newSessionRoute(first.name), { replace: true })
  await refreshPending()
}

function onOnline(): void {
  void readServer()
  void refreshSessions()
  reopenLogs()
}

let lastPending: string | undefined
let lastSessions: string | undefined

function onChanges({ pending, lastSeq, sessions }: Changes, session: SessionKey | undefined): void {
  if (sessions !== lastSessions && lastSessions !== undefined) void refreshSessions()
  lastSessions = sessions
  if (pending !== lastPending || pendingError.value !== undefined) void refreshPending()
  lastPending = pending
  if (session && lastSeq !== undefined) updateLog(session, lastSeq)
}

let lastApp: string | undefined

/** The app of the route; in the inbox, the app shown before. */
function appNow(): string | undefined {
  const shown = route.value
  if ('app' in shown) lastApp = shown.app
  return lastApp ?? appsOf(server.value)[0]?.name
}
