import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Part } from '../../../src/core/content/content.ts'
import type { Event } from '../../../src/core/event/event.ts'
import { callIdIn } from '../../../src/core/event/scope.ts'
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
import { type LiveCall, type LiveRows, Row } from './Row.tsx'
import { type ChatRow, callsIn, type TextRow } from './rows.ts'

/** The conversation of a session. */
export function ChatTab({ log }: SessionTabProps): JSX.Element {
  const view = useSignal(log.view)
  const fold = useMemo(() => new ChatFold(), [log])
  const stored = useMemo(() => fold.update(view), [fold, view.entries, view.recent])
  const live = useMemo(() => liveRows(view.streaming, stored), [view.streaming, stored])
  const rows = useMemo(() => [...stored, ...live.rows], [stored, live])
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
          render={(row) => <Row row={row} log={log} live={streamsIn(row, live.calls) ? live.calls : undefined} />}
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

/** The key of the row that shows a selected event, or has it inside. */
function findRow(rows: readonly ChatRow[], selected: Selection | undefined): string | undefined {
  if (!selected) return undefined
  const { eventId, callId } = selected
  const shows = (isShown: (row: ChatRow) => boolean, row: ChatRow): boolean =>
    isShown(row) || (row.type === 'call' && row.inner.some((one) => shows(isShown, one)))
  const find = (isShown: (row: ChatRow) => boolean): ChatRow | undefined => rows.find((row) => shows(isShown, row))
  const found = find(({ key }) => key === `call ${callId}`)
  return (found ?? find(({ key }) => key === eventId || key.startsWith(`${eventId}/`)))?.key
}

/** What streams: text of the conversation, and what belongs to calls. */
function liveRows(
  streaming: readonly Event[],
  stored: readonly ChatRow[],
): { readonly rows: readonly TextRow[]; readonly calls: LiveRows } {
  const rows: TextRow[] = []
  const calls = new Map<string, LiveCall>()
  const shown = new Set(callsIn(stored).map(({ id }) => id))
  const callOf = (id: string): LiveCall => {
    const call = calls.get(id) ?? { rows: [] }
    calls.set(id, call)
    return call
  }
  for (const event of streaming) {
    const around = event.isolationScope && callIdIn(event.isolationScope)
    for (const [at, { text, thought, functionResponse }] of (event.content?.parts ?? []).entries()) {
      if (functionResponse) callOf(functionResponse.id ?? '').progress = functionResponse.response.progress
      if (!text) continue
      const { author, timestamp } = event
      const row = {
        type: 'text',
        key: `${event.id}/${at}`,
        eventId: event.id,
        timestamp,
        author,
        text,
        isThought: thought === true,
      } as const
      const list = around !== undefined && shown.has(around) ? callOf(around).rows : rows
      list.push({ ...row, isStreaming: true, usage: undefined })
    }
  }
  return { rows, calls }
}

/** Does something stream in this row, or in a row inside it? */
function streamsIn(row: ChatRow, calls: LiveRows): boolean {
  return calls.size > 0 && callsIn([row]).some(({ id }) => calls.has(id))
}
