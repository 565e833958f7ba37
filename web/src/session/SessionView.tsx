import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { ApiError, describeError } from '../api/api-error.ts'
import type { AppInfo } from '../api/types.ts'
import { ChatTab } from '../chat/ChatTab.tsx'
import { NewChat } from '../chat/NewChat.tsx'
import { copyLinkItem } from '../copy/copy-text.ts'
import { exportJson, exportMarkdown } from '../copy/transfer.ts'
import { SaveEvaluation } from '../evals/SaveEvaluation.tsx'
import { Failure } from '../Failure.tsx'
import { InspectTab } from '../inspect/InspectTab.tsx'
import { LiveTab } from '../live/LiveTab.tsx'
import { knownSession, sessionList, sessionName } from '../sessions/session-list.ts'
import { navigate, newSessionRoute, type SessionTab } from '../state/route.ts'
import { useSignal } from '../state/signal.ts'
import { TimelineTab } from '../timeline/TimelineTab.tsx'
import { Menu } from '../ui/Menu.tsx'
import { type Tab, Tabs } from '../ui/Tabs.tsx'
import { useMedia } from '../ui/use-media.ts'
import { visibleLine } from '../ui/visible-text.ts'
import { markLinked } from './linked.ts'
import { openLog } from './open-logs.ts'
import { pointed } from './selection.ts'
import type { SessionLog } from './session-log.ts'
import { useTarget } from './use-target.ts'

/** Props of a session. */
export interface SessionViewProps {
  /** The app. */
  readonly app: AppInfo
  /** The user. */
  readonly userId: string
  /** The session; undefined for one that begins with the next message. */
  readonly sessionId: string | undefined
  /** The tab that is shown. */
  readonly tab: SessionTab
  /** The id of a call, an event or a request to show. */
  readonly at: string | undefined
}

const TABS: readonly Tab<SessionTab>[] = [
  { id: 'chat', label: 'Chat' },
  { id: 'timeline', label: 'Timeline' },
  { id: 'inspect', label: 'Inspect' },
]
const LIVE: Tab<SessionTab> = { id: 'live', label: 'Live' }

/** A session: its name, its tabs, and the tab that is shown. */
export function SessionView({ app, userId, sessionId, ...shown }: SessionViewProps): JSX.Element {
  // at once, so that the message field of a new session is replaced without a gap; the view has a key for each session
  const [log] = useState(() => (sessionId === undefined ? undefined : openLog({ app: app.name, userId, sessionId })))
  return log ? <OpenSession app={app} log={log} {...shown} /> : <NewSession app={app} userId={userId} />
}

function NewSession({ app, userId }: { readonly app: AppInfo; readonly userId: string }): JSX.Element {
  return (
    <div class="view session-view">
      <header class="view-head">
        <h1>New session</h1>
      </header>
      <NewChat app={app} userId={userId} />
    </div>
  )
}

type OpenSessionProps = Pick<SessionViewProps, 'app' | 'tab' | 'at'> & { readonly log: SessionLog }

function OpenSession({ app, log, tab, at }: OpenSessionProps): JSX.Element {
  const panelId = useId()
  const { key } = log
  const { status, error } = useSignal(log.view)
  const session = knownSession(useSignal(sessionList), key)
  const title = session ? sessionName(session) : key.sessionId
  useTarget(log, at)
  if (status === 'failed') return <FailedSession log={log} error={error} />
  const show = (id: SessionTab): void => navigate({ ...key, view: 'session', userId: undefined, tab: id })
  const items = () => [
    copyLinkItem(key, { tab }),
    { label: 'Export as JSON', run: () => exportJson(key, title) },
    { label: 'Export as Markdown', run: () => exportMarkdown(key, title) },
  ]
  return (
    <div class="view session-view">
      <header class="view-head">
        <h1>{visibleLine(title)}</h1>
        <Menu label="Share and export" items={items} />
        <SaveEvaluation session={key} />
        <Tabs
          label="Session"
          tabs={app.hasLive ? [...TABS, LIVE] : TABS}
          value={tab}
          panelId={panelId}
          onChange={show}
        />
      </header>
      <div class="panel" role="tabpanel" id={panelId} aria-label={tab}>
        <Panel tab={tab} log={log} />
      </div>
    </div>
  )
}

/** A session that cannot be read, most often because there is none. */
function FailedSession({ log, error }: { readonly log: SessionLog; readonly error: unknown }): JSX.Element {
  const { app, userId, sessionId } = log.key
  const isMissing = error instanceof ApiError && error.status === 404
  const text = isMissing
    ? `User “${userId}” has no session “${sessionId}”. It may be deleted, or belong to another user or server.`
    : describeError(error)
  const title = isMissing ? 'There is no such session' : 'The session cannot be shown'
  return <Failure title={title} text={text} links={[{ label: 'New session', to: newSessionRoute(app) }]} />
}

/** From this width on, the chat has the timeline beside it. */
const WIDE = '(min-width: 1200px)'

function Panel({ tab, log }: { readonly tab: SessionTab; readonly log: SessionLog }): JSX.Element {
  const isWide = useMedia(WIDE)
  switch (tab) {
    case 'timeline':
      return <TimelineTab log={log} />
    case 'inspect':
      return <InspectTab log={log} />
    case 'live':
      return <LiveTab log={log} />
    default:
      return isWide ? <Panes log={log} /> : <ChatTab log={log} />
  }
}

/** After this time, the timeline shows the run that was chosen. */
const DRAWN_MS = 60

/** The chat and the timeline side by side. What the user points at in one is marked in the other. */
function Panes({ log }: { readonly log: SessionLog }): JSX.Element {
  const panes = useRef<HTMLDivElement>(null)
  const [isDrawn, setDrawn] = useState(false)
  const markAt = (target: EventTarget | null, isChosen: boolean): void => {
    if (panes.current) markLinked(panes.current, target, log.view.value, isChosen)
  }
  const mark = ({ target, type }: Event): void => {
    const isChosen = type !== 'pointerover'
    markAt(target, isChosen)
    if (isChosen) setTimeout(() => markAt(target, false), DRAWN_MS) // the timeline may show another run now
  }
  useEffect(() => {
    const timer = setTimeout(() => setDrawn(true)) // the conversation comes first
    return () => {
      clearTimeout(timer)
      pointed.set(undefined)
    }
  }, [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the rows and steps in it have the focus and the keys
    <div class="panes" ref={panes} onPointerOver={mark} onFocusIn={mark} onClick={mark}>
      <ChatTab log={log} />
      <section class="pane" aria-label="Timeline">
        {isDrawn && <TimelineTab log={log} />}
      </section>
    </div>
  )
}
