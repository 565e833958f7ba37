import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Part } from '../../../src/core/content/content.ts'
import type { Event } from '../../../src/core/event/event.ts'
import { describeError } from '../api/api-error.ts'
import { type Selection, selection } from '../session/selection.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { notifyError } from '../state/notices.ts'
import { useShortcuts } from '../state/shortcuts.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { VirtualList } from '../ui/VirtualList.tsx'
import { WhatIfNote } from '../what-if/WhatIfNote.tsx'
import { Announcer } from './Announcer.tsx'
import { Composer } from './Composer.tsx'
import { fieldOf } from './drafts.ts'
import { ChatFold } from './fold.ts'
import { Row } from './Row.tsx'
import type { ChatRow, TextRow } from './rows.ts'

/** The conversation of a session. */
export function ChatTab({ log }: SessionTabProps): JSX.Element {
  const view = useSignal(log.view)
  const fold = useMemo(() => new ChatFold(), [log])
  const stored = useMemo(() => fold.update(view), [fold, view.entries, view.recent])
  const rows = useMemo(() => [...stored, ...streamingRows(view.streaming)], [stored, view.streaming])
  const progress = useMemo(() => progressOf(view.streaming), [view.streaming])
  const targetKey = findRow(rows, useSignal(selection))
  useEffect(() => () => selection.set(undefined), [])
  const scroller = useRef<HTMLElement>(null)
  const [isAway, setAway] = useState(false)
  const stop = (): void => void log.stop().catch(notifyError)
  useShortcuts([{ keys: 's', label: 'Stop the run', run: () => log.view.value.isRunning && stop() }])
  const send = (parts: readonly Part[]): Promise<void> => {
    selection.set(undefined) // follows the run again
    return log.send(parts)
  }
  const toEnd = (): void => scroller.current?.scrollTo({ top: scroller.current.scrollHeight })
  return (
    <div class="chat">
      <h2 class="visually-hidden">Conversation</h2>
      <WhatIfNote sessionId={log.key.sessionId} />
      {view.status === 'failed' ? (
        <p class="empty">{describeError(view.error)}</p>
      ) : (
        <VirtualList
          items={rows}
          label="Conversation"
          estimate={72}
          isFollowing={targetKey === undefined}
          targetKey={targetKey}
          scroller={scroller}
          keyOf={(row) => row.key}
          render={(row) => <Row row={row} log={log} progress={progress.get(row.key)} />}
          onStart={() => {
            if (view.hasEarlier) void log.loadEarlier()
          }}
          onAway={setAway}
        />
      )}
      {view.error !== undefined && view.status === 'ready' && (
        <p class="problem column" role="alert">
          {describeError(view.error)}
        </p>
      )}
      <Announcer rows={stored} isRunning={view.isRunning} />
      <div class="to-end">{isAway && <Button icon="arrowDown" label="To the end" onClick={toEnd} />}</div>
      <Composer name={fieldOf(log.key)} isRunning={view.isRunning} onStop={stop} onSend={send} />
    </div>
  )
}

/** The key of the row that shows a selected event. */
function findRow(rows: readonly ChatRow[], selected: Selection | undefined): string | undefined {
  if (!selected) return undefined
  const { eventId, callId } = selected
  const isShown = ({ key }: ChatRow): boolean => key === eventId || key.startsWith(`${eventId}/`)
  return (rows.find(({ key }) => key === `call ${callId}`) ?? rows.find(isShown))?.key
}

/** Text that is streaming. */
function streamingRows(streaming: readonly Event[]): readonly ChatRow[] {
  return streaming.flatMap((event) =>
    (event.content?.parts ?? []).flatMap((part, at): TextRow[] => {
      if (!part.text) return []
      const { author, timestamp } = event
      const { id: eventId } = event
      const key = `${eventId}/${at}`
      const isThought = part.thought === true
      return [
        {
          type: 'text',
          key,
          eventId,
          timestamp,
          author,
          text: part.text,
          isThought,
          isStreaming: true,
          usage: undefined,
        },
      ]
    }),
  )
}

/** The latest progress of each call, by the key of its row. */
function progressOf(streaming: readonly Event[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  for (const { content } of streaming)
    for (const { functionResponse } of content?.parts ?? [])
      if (functionResponse) found.set(`call ${functionResponse.id}`, functionResponse.response.progress)
  return found
}
