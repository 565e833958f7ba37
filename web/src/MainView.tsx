import type { JSX } from 'preact'
import { BenchView } from './bench/BenchView.tsx'
import { EvaluationsPage } from './evals/EvaluationsPage.tsx'
import { FleetPage } from './fleet/FleetPage.tsx'
import { InboxView } from './inbox/InboxView.tsx'
import { SessionView } from './session/SessionView.tsx'
import { userId } from './state/preferences.ts'
import type { Route } from './state/route.ts'
import { appsOf, server } from './state/server.ts'
import { useSignal } from './state/signal.ts'
import { StatsPage } from './stats/StatsPage.tsx'

/** The view of a route. */
export function MainView({ route }: { readonly route: Route }): JSX.Element {
  const user = useSignal(userId)
  const apps = appsOf(useSignal(server))
  if (route.view === 'inbox') return <InboxView />
  if (route.view === 'home') return <Empty text="The server has no apps." />
  const app = apps.find(({ name }) => name === route.app)
  if (!app) return <Empty text={`There is no app "${route.app}" on this server.`} />
  if (route.view === 'bench') return <BenchView key={`${app.name} ${user}`} app={app.name} userId={user} />
  if (route.view === 'fleet') return <FleetPage key={app.name} app={app.name} file={app.file} />
  if (route.view === 'stats') return <StatsPage key={`${app.name} ${user}`} app={app.name} userId={user} />
  if (route.view === 'evals') return <EvaluationsPage key={app.name} app={app.name} />
  const key = `${app.name} ${user} ${route.sessionId ?? ''}`
  return <SessionView key={key} app={app} userId={user} sessionId={route.sessionId} tab={route.tab} />
}

function Empty({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="view">
      <header class="view-head">
        <h1>Toolwright</h1>
      </header>
      <p class="empty">{text}</p>
    </div>
  )
}
