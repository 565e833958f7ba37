import { type Signal, signal } from './signal.ts'

/** The tabs of a session. */
export type SessionTab = 'chat' | 'timeline' | 'inspect' | 'live'

/** What the page shows. It is stored in the hash of the address. */
export type Route =
  | { readonly view: 'home' }
  | { readonly view: 'inbox' }
  | { readonly view: 'bench'; readonly app: string }
  | { readonly view: 'fleet'; readonly app: string }
  | { readonly view: 'stats'; readonly app: string }
  | { readonly view: 'evals'; readonly app: string }
  | { readonly view: 'session'; readonly app: string; readonly sessionId: string | undefined; readonly tab: SessionTab }

const TABS: ReadonlySet<string> = new Set<SessionTab>(['chat', 'timeline', 'inspect', 'live'])

/** Reads the hash of an address: `#/inbox`, `#/apps/A/bench`, `#/apps/A/fleet`, `#/apps/A/stats`, `#/apps/A/evals`, `#/apps/A`, `#/apps/A/sessions/S/timeline`. */
export function readRoute(hash: string): Route {
  const [area, app, view, sessionId, tab] = hash.replace(/^#?\//, '').split('/').map(decode)
  if (area === 'inbox') return { view: 'inbox' }
  if (area !== 'apps' || !app) return { view: 'home' }
  if (view === 'bench' || view === 'fleet' || view === 'stats' || view === 'evals') return { view, app }
  const named = view === 'sessions' && sessionId ? sessionId : undefined
  return { view: 'session', app, sessionId: named, tab: isTab(tab) ? tab : 'chat' }
}

/** The route of a session that begins with the next message. */
export function newSessionRoute(app: string): Route {
  return { view: 'session', app, sessionId: undefined, tab: 'chat' }
}

/** Writes the hash of a route. */
export function writeRoute(route: Route): string {
  switch (route.view) {
    case 'home':
      return '#/'
    case 'inbox':
      return '#/inbox'
    case 'bench':
    case 'fleet':
    case 'stats':
    case 'evals':
      return `#/apps/${encodeURIComponent(route.app)}/${route.view}`
    case 'session': {
      const app = `#/apps/${encodeURIComponent(route.app)}`
      if (route.sessionId === undefined) return app
      const session = `${app}/sessions/${encodeURIComponent(route.sessionId)}`
      return route.tab === 'chat' ? session : `${session}/${route.tab}`
    }
  }
}

/** The route of the page. */
export const route: Signal<Route> = signal(readRoute(location.hash))

addEventListener('hashchange', () => route.set(readRoute(location.hash)))

/** Shows a route. `replace` keeps the current one out of the history. */
export function navigate(to: Route, options: { replace?: boolean } = {}): void {
  const hash = writeRoute(to)
  if (options.replace) history.replaceState(null, '', hash)
  else if (hash !== location.hash) history.pushState(null, '', hash)
  route.set(to)
}

function isTab(text: string | undefined): text is SessionTab {
  return text !== undefined && TABS.has(text)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part // typed by hand
  }
}
