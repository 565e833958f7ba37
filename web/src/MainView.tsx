import type { JSX } from 'preact'
import { BenchView } from './bench/BenchView.tsx'
import { EvaluationsPage } from './evals/EvaluationsPage.tsx'
import { Failure } from './Failure.tsx'
import { FleetPage } from './fleet/FleetPage.tsx'
import { InboxView } from './inbox/InboxView.tsx'
import { SessionView } from './session/SessionView.tsx'
import { userId } from './state/preferences.ts'
import { newSessionRoute, type Route } from './state/route.ts'
import { appsOf, server } from './state/server.ts'
import { useSignal } from './state/signal.ts'
import { StatsPage } from './stats/StatsPage.tsx'

/** The view of a route. */
export function MainView({ route }: { readonly route: Route }): JSX.Element {
  const user = useSignal(userId)
  const apps = appsOf(useSignal(server))
  if (route.view === 'inbox') return <InboxView />
  if (route.view === 'home') return <Failure title="Toolwright" text="The server has no apps." links={[]} />
  const app = apps.find(({ name }) => name === route.app)
  if (!app) {
    const links = apps.map(({ name }) => ({ label: name, to: newSessionRoute(name) }))
    const text = `This server has no app “${route.app}”. ${links.length > 0 ? 'It has these:' : 'It has none.'}`
    return <Failure title="There is no such app" text={text} links={links} />
  }
  if (route.view === 'bench') return <BenchView key={`${app.name} ${user}`} app={app.name} userId={user} />
  if (route.view === 'fleet') return <FleetPage key={app.name} app={app.name} file={app.file} />
  if (route.view === 'stats') return <StatsPage key={`${app.name} ${user}`} app={app.name} userId={user} />
  if (route.view === 'evals') return <EvaluationsPage key={app.name} app={app.name} />
  const key = `${app.name} ${user} ${route.sessionId ?? ''}`
  return <SessionView key={key} app={app} userId={user} sessionId={route.sessionId} tab={route.tab} at={route.at} />
}
