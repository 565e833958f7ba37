import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Part } from '../../../src/core/content/content.ts'
import type { AppInfo, SessionKey } from '../api/types.ts'
import { AgentGraph } from '../graph/AgentGraph.tsx'
import { openLog } from '../session/open-logs.ts'
import { startSession } from '../sessions/session-list.ts'
import { notifyError } from '../state/notices.ts'
import { navigate, type SessionTab } from '../state/route.ts'
import { Button } from '../ui/Button.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { Composer } from './Composer.tsx'
import { fieldOf, moveDraft, ownDraft } from './drafts.ts'

/** A session that begins with the next message. */
export function NewChat({ app, userId }: { readonly app: AppInfo; readonly userId: string }): JSX.Element {
  const [isStarting, setStarting] = useState(false)
  useState(() => ownDraft(app.name)) // once, before the field reads its draft
  const open = async (name: string, tab: SessionTab): Promise<SessionKey> => {
    setStarting(true)
    try {
      const key = await startSession(app.name, userId, name)
      moveDraft(app.name, fieldOf(key)) // what was typed meanwhile
      navigate({ view: 'session', app: app.name, sessionId: key.sessionId, tab })
      return key
    } finally {
      setStarting(false)
    }
  }
  const start = async (parts: readonly Part[]): Promise<void> => {
    const key = await open(parts.map((part) => part.text ?? '').join(' '), 'chat')
    void openLog(key).send(parts).catch(notifyError)
  }
  return (
    <div class="chat">
      <div class="welcome column">
        <h2>{visibleLine(app.rootAgent)}</h2>
        {app.tour.length > 0 && (
          <ul class="tour" aria-label="Example messages">
            {app.tour.map((text) => (
              <li key={text}>
                <Button disabled={isStarting} onClick={() => void start([{ text }]).catch(notifyError)}>
                  {visibleLine(text)}
                </Button>
              </li>
            ))}
          </ul>
        )}
        <AgentGraph app={app.name} />
        {app.hasLive && (
          <Button
            icon="microphone"
            disabled={isStarting}
            onClick={() => void open('Live session', 'live').catch(notifyError)}
          >
            Open a live session
          </Button>
        )}
      </div>
      <Composer name={app.name} isRunning={isStarting} onStop={() => {}} onSend={start} />
    </div>
  )
}
