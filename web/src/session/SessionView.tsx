import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { AppInfo } from '../api/types.ts'
import { ChatTab } from '../chat/ChatTab.tsx'
import { NewChat } from '../chat/NewChat.tsx'
import { SaveEvaluation } from '../evals/SaveEvaluation.tsx'
import { InspectTab } from '../inspect/InspectTab.tsx'
import { LiveTab } from '../live/LiveTab.tsx'
import { sessionList, sessionName } from '../sessions/session-list.ts'
import { navigate, type SessionTab } from '../state/route.ts'
import { useSignal } from '../state/signal.ts'
import { TimelineTab } from '../timeline/TimelineTab.tsx'
import { type Tab, Tabs } from '../ui/Tabs.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { openLog } from './open-logs.ts'
import type { SessionLog } from './session-log.ts'

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
}

const TABS: readonly Tab<SessionTab>[] = [
  { id: 'chat', label: 'Chat' },
  { id: 'timeline', label: 'Timeline' },
  { id: 'inspect', label: 'Inspect' },
]
const LIVE: Tab<SessionTab> = { id: 'live', label: 'Live' }

/** A session: its name, its tabs, and the tab that is shown. */
export function SessionView({ app, userId, sessionId, tab }: SessionViewProps): JSX.Element {
  const panelId = useId()
  // at once, so that the message field of a new session is replaced without a gap; the view has a key for each session
  const [log] = useState(() => (sessionId === undefined ? undefined : openLog({ app: app.name, userId, sessionId })))
  const { sessions } = useSignal(sessionList)
  const session = sessions?.find(({ id }) => id === sessionId)
  const title = session ? sessionName(session) : (sessionId ?? 'New session')
  const show = (id: SessionTab): void => navigate({ view: 'session', app: app.name, sessionId, tab: id })
  return (
    <div class="view session-view">
      <header class="view-head">
        <h1>{visibleLine(title)}</h1>
        {log && <SaveEvaluation session={log.key} />}
        {sessionId !== undefined && (
          <Tabs
            label="Session"
            tabs={app.hasLive ? [...TABS, LIVE] : TABS}
            value={tab}
            panelId={panelId}
            onChange={show}
          />
        )}
      </header>
      {sessionId === undefined ? (
        <NewChat app={app} userId={userId} />
      ) : (
        <div class="panel" role="tabpanel" id={panelId} aria-label={tab}>
          {log && <Panel tab={tab} log={log} />}
        </div>
      )}
    </div>
  )
}

function Panel({ tab, log }: { readonly tab: SessionTab; readonly log: SessionLog }): JSX.Element {
  switch (tab) {
    case 'timeline':
      return <TimelineTab log={log} />
    case 'inspect':
      return <InspectTab log={log} />
    case 'live':
      return <LiveTab log={log} />
    default:
      return <ChatTab log={log} />
  }
}
