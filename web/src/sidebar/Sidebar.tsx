import type { JSX } from 'preact'
import { pending } from '../inbox/pending-store.ts'
import { SessionItems } from '../sessions/SessionItems.tsx'
import { theme, userId } from '../state/preferences.ts'
import { navigate, newSessionRoute, route, writeRoute } from '../state/route.ts'
import { appsOf, server } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { UserPicker } from './UserPicker.tsx'

/** Props of the sidebar. */
export interface SidebarProps {
  /** The app that is shown. */
  readonly app: string | undefined
  /** Called to show the keyboard shortcuts. */
  onShowKeys(): void
  /** Called to find sessions, tools, agents and actions. */
  onFind(): void
}

/** The apps, the user, the views and the sessions. */
export function Sidebar({ app, onShowKeys, onFind }: SidebarProps): JSX.Element {
  const user = useSignal(userId)
  const view = useSignal(route).view
  const count = useSignal(pending)?.length ?? 0
  return (
    <aside class="sidebar" aria-label="Sidebar">
      <header class="brand">
        <span class="brand-name">
          <Icon name="wrench" /> Toolwright
        </span>
        {app !== undefined && <Button icon="search" kind="plain" label="Go to (Ctrl K)" onClick={onFind} />}
        <Button icon="keyboard" kind="plain" label="Keyboard shortcuts" onClick={onShowKeys} />
        <ThemeButton />
      </header>
      <AppPicker app={app} />
      {app !== undefined && <UserPicker app={app} />}
      <nav class="views" aria-label="Views">
        <a href="#/inbox" aria-current={view === 'inbox' ? 'page' : undefined}>
          <Icon name="inbox" /> Inbox
          {count > 0 && (
            <span class="badge">
              {count}
              <span class="visually-hidden"> open</span>
            </span>
          )}
        </a>
        {app !== undefined && (
          <a href={writeRoute({ view: 'bench', app })} aria-current={view === 'bench' ? 'page' : undefined}>
            <Icon name="wrench" /> Tool bench
          </a>
        )}
        {app !== undefined && (
          <a href={writeRoute({ view: 'fleet', app })} aria-current={view === 'fleet' ? 'page' : undefined}>
            <Icon name="system" /> Fleet
          </a>
        )}
        {app !== undefined && (
          <a href={writeRoute({ view: 'stats', app })} aria-current={view === 'stats' ? 'page' : undefined}>
            <Icon name="chart" /> Statistics
          </a>
        )}
        {app !== undefined && (
          <a href={writeRoute({ view: 'evals', app })} aria-current={view === 'evals' ? 'page' : undefined}>
            <Icon name="check" /> Evaluations
          </a>
        )}
      </nav>
      {app !== undefined && <SessionItems app={app} userId={user} />}
    </aside>
  )
}

function AppPicker({ app }: { readonly app: string | undefined }): JSX.Element | null {
  const apps = appsOf(useSignal(server))
  if (app === undefined) return null
  return (
    <label class="app-picker">
      <span>App</span>
      <select value={app} onChange={(event) => navigate(newSessionRoute(event.currentTarget.value))}>
        {apps.map(({ name }) => (
          <option key={name} value={name}>
            {visibleLine(name)}
          </option>
        ))}
      </select>
    </label>
  )
}

const NEXT_THEME = { system: 'light', light: 'dark', dark: 'system' } as const
const THEME_ICON: { readonly [name: string]: IconName } = { system: 'system', light: 'sun', dark: 'moon' }

function ThemeButton(): JSX.Element {
  const chosen = useSignal(theme)
  const next = NEXT_THEME[chosen]
  return (
    <Button
      icon={THEME_ICON[chosen]}
      kind="plain"
      label={`Colours: ${chosen}. Change to ${next}`}
      onClick={() => theme.set(next)}
    />
  )
}
