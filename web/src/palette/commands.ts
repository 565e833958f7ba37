import type { GraphAgent, SessionItem } from '../api/types.ts'
import { callToRepeat } from '../bench/RerunButton.tsx'
import { sessionName } from '../sessions/session-list.ts'
import { navigate, newSessionRoute, type Route } from '../state/route.ts'
import type { Shortcut } from '../state/shortcuts.ts'

/** Something to do or to open. */
export interface Command {
  /** What it is. */
  readonly kind: 'Session' | 'Action' | 'Tool' | 'Agent' | 'App'
  /** Its name. */
  readonly label: string
  /** What tells it from others of this name. */
  readonly detail?: string | undefined
  /** Does it. */
  run(): void
}

/** What commands are made from. */
export interface CommandSources {
  /** The app that is shown. */
  readonly app: string
  /** The user that the page acts as. */
  readonly userId: string
  /** The names of all apps. */
  readonly apps: readonly string[]
  /** The shortcuts that work now. */
  readonly shortcuts: readonly Shortcut[]
  /** Sessions, the latest first. */
  readonly sessions: readonly SessionItem[]
  /** The agents of the app; undefined while they load. */
  readonly root: GraphAgent | undefined
}

/** All commands, those used most first. */
export function listCommands({ app, userId, apps, shortcuts, sessions, root }: CommandSources): readonly Command[] {
  const go = (to: Route) => (): void => navigate(to)
  const agents = root ? flatten(root) : []
  return [
    ...shortcuts.map(({ label, keys, run }): Command => ({ kind: 'Action', label, detail: keys, run })),
    ...sessions.map((session): Command => {
      const to: Route = { view: 'session', app, sessionId: session.id, tab: 'chat' }
      const isOther = session.userId !== userId
      const run = go(isOther ? { ...to, userId: session.userId } : to)
      return { kind: 'Session', label: sessionName(session), detail: isOther ? session.userId : session.match, run }
    }),
    ...agents.map(({ name, description }): Command => {
      return { kind: 'Agent', label: name, detail: description, run: go(newSessionRoute(app)) }
    }),
    ...agents.flatMap(({ name: agent, tools = [] }) =>
      tools.map(({ name }): Command => {
        const openTool = (): void => {
          callToRepeat.set({ agent, name, args: {} })
          navigate({ view: 'bench', app })
        }
        return { kind: 'Tool', label: name, detail: agent, run: openTool }
      }),
    ),
    ...apps.map((name): Command => ({ kind: 'App', label: name, run: go(newSessionRoute(name)) })),
  ]
}

/** The commands that have every word, and sessions that the server has found. */
export function filterCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/)
  const fits = ({ kind, label, detail = '' }: Command): boolean => {
    const own = `${kind} ${label} ${detail}`.toLowerCase()
    return words.every((word) => own.includes(word))
  }
  return commands.filter(fits)
}

function flatten(agent: GraphAgent): readonly GraphAgent[] {
  return [agent, ...(agent.sub_agents ?? []).flatMap(flatten)]
}
