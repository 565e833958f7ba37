import { visibleLine } from '../ui/visible-text.ts'
import { dismiss, notify } from './notices.ts'
import { chooseUser, chosenUser, userId as user } from './preferences.ts'
import { server } from './server.ts'
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
  | SessionRoute

/** A session. */
export interface SessionRoute {
  /** Discriminates routes. */
  readonly view: 'session'
  /** The app. */
  readonly app: string
  /** The session; undefined for one that begins with the next message. */
  readonly sessionId: string | undefined
  /** The tab. */
  readonly tab: SessionTab
  /** The user of the session, in links that others open. Default: the user that the page acts as. */
  readonly userId?: string | undefined
  /** The id of a call, an event or a request to show. */
  readonly at?: string | undefined
}

const TABS: ReadonlySet<string> = new Set<SessionTab>(['chat', 'timeline', 'inspect', 'live'])

/**
 * Reads the hash of an address: `#/inbox`, `#/apps/A/bench`, `#/apps/A/fleet`, `#/apps/A/stats`, `#/apps/A/evals`, `#/apps/A`,
 * `#/apps/A/sessions/S/timeline?user=U&at=ID`.
 */
export function readRoute(hash: string): Route {
  const [path = '', query] = hash.split('?')
  const more = new URLSearchParams(query)
  const [area, app, view, sessionId, tab] = path.replace(/^#?\//, '').split('/').map(decode)
  if (area === 'inbox') return { view: 'inbox' }
  if (area !== 'apps' || !app) return { view: 'home' }
  if (view === 'bench' || view === 'fleet' || view === 'stats' || view === 'evals') return { view, app }
  const named = view === 'sessions' && sessionId ? sessionId : undefined
  const [userId, at] = [more.get('user') ?? undefined, more.get('at') ?? undefined]
  return { view: 'session', app, sessionId: named, tab: isTab(tab) ? tab : 'chat', userId, at }
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
      const { tab, userId, at } = route
      return withQuery(tab === 'chat' ? session : `${session}/${tab}`, { user: userId, at })
    }
  }
}

/** The address of a route, for people who may see it. It has no token. */
export function linkTo(route: Route): string {
  return `${location.origin}/${writeRoute(route)}`
}

/** The route of the page. */
export const route: Signal<Route> = signal(readRoute(location.hash))

/** The message about the user of a link. It is true until the page acts as another user. */
let linkNotice = 0
user.watch(() => dismiss(linkNotice))
server.watch(() => hasFixedUser() && dismiss(linkNotice))
followUser()

addEventListener('hashchange', () => {
  route.set(readRoute(location.hash))
  followUser()
})

/** Shows a route. `replace` keeps the current one out of the history. */
export function navigate(given: Route, options: { replace?: boolean } = {}): void {
  const to = withLinkedUser(given)
  const hash = writeRoute(to)
  if (options.replace) history.replaceState(null, '', hash)
  else if (hash !== location.hash) history.pushState(null, '', hash)
  route.set(to)
  followUser()
}

/** Acts as a user, as the user of the page wants. Sessions belong to a user, so that the session shown is left. */
export function changeUser(name: string): void {
  chooseUser(name)
  const { value } = route
  if (value.view === 'session') navigate(newSessionRoute(value.app))
}

/** Acts as the user of a link, and says so: the link may come from somebody else. */
function followUser(): void {
  const { value } = route
  if (value.view !== 'session' || !value.userId || value.userId === user.value || hasFixedUser()) return
  user.set(value.userId)
  const own = chosenUser()
  if (value.userId === own) return
  const name = visibleLine(value.userId)
  const back = { label: `Act as ${visibleLine(own)}`, run: () => changeUser(own) }
  linkNotice = notify(`This link shows sessions of “${name}”. You now act as “${name}”.`, 'info', back)
}

/** The user of a link is only in the address, so that it stays there while the page shows sessions of that user. */
function withLinkedUser(to: Route): Route {
  const isLinked = to.view === 'session' && !to.userId && user.value !== chosenUser()
  return isLinked ? { ...to, userId: user.value } : to
}

/** Does the token of the page belong to one user? */
function hasFixedUser(): boolean {
  const { value } = server
  return value !== undefined && !(value instanceof Error) && !value.mayActAsAnyUser
}

function withQuery(hash: string, query: { readonly [name: string]: string | undefined }): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return given.length > 0 ? `${hash}?${new URLSearchParams(given)}` : hash
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
