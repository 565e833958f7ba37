import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Entry } from '../../../src/core/event/event.ts'
import { EntryCopyMenu } from '../copy/CopyMenu.tsx'
import { type Selection, selection } from '../session/selection.ts'
import type { SessionLog } from '../session/session-log.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { useSignal } from '../state/signal.ts'
import { Time } from '../ui/Time.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VirtualList } from '../ui/VirtualList.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { describeEntry } from './describe-entry.ts'
import { type EntryKind, filterEntries, type LogFilter } from './log-filter.ts'

const KINDS: readonly (readonly [EntryKind, string])[] = [
  ['all', 'All entries'],
  ['events', 'Events'],
  ['records', 'Records'],
  ['calls', 'Calls and responses'],
  ['state', 'State changes'],
  ['errors', 'Errors'],
]

/** The log of the session, entry by entry. */
export function LogPanel({ log }: SessionTabProps): JSX.Element {
  const { entries, hasEarlier } = useSignal(log.view)
  const [filter, setFilter] = useState<LogFilter>({ text: '', kind: 'all' })
  const found = useFiltered(entries, filter)
  const selected = useSignal(selection)
  const target = selected && found.find((entry) => isSelected(entry, selected))?.seq
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const toggle = (seq: number): void => {
    const next = new Set(open)
    if (!next.delete(seq)) next.add(seq)
    setOpen(next)
  }
  return (
    <div class="log">
      <div class="inspect-bar">
        <label class="field grow">
          <span class="visually-hidden">Filter the log</span>
          <input
            type="search"
            placeholder="Filter the log"
            value={filter.text}
            onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
          />
        </label>
        <label>
          <span class="visually-hidden">Kind of entry</span>
          <select
            value={filter.kind}
            onChange={(event) => setFilter({ ...filter, kind: event.currentTarget.value as EntryKind })}
          >
            {KINDS.map(([kind, label]) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <span class="muted" role="status">
          {found.length} of {entries.length}
        </span>
      </div>
      <VirtualList
        items={found}
        label="Log"
        estimate={34}
        isFollowing={open.size === 0 && target === undefined}
        keyOf={({ seq }) => String(seq)}
        targetKey={target?.toString()}
        onStart={() => {
          if (hasEarlier) void log.loadEarlier()
        }}
        render={(entry) => (
          <LogRow entry={entry} isOpen={open.has(entry.seq)} onToggle={() => toggle(entry.seq)} log={log} />
        )}
      />
    </div>
  )
}

interface RowProps {
  readonly entry: Entry
  readonly isOpen: boolean
  readonly log: SessionLog
  onToggle(): void
}

function LogRow({ entry, isOpen, onToggle, log }: RowProps): JSX.Element {
  const { seq, event, record } = entry
  return (
    <div class="log-row">
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <span class="log-seq">{seq}</span>
        <span class={record ? 'log-kind record' : 'log-kind'}>{visibleLine(record ? record.type : event.author)}</span>
        <span class={event?.errorCode === undefined ? 'log-text' : 'log-text failed'}>
          {visibleLine(describeEntry(entry))}
        </span>
        {event && <Time seconds={event.timestamp} isExact />}
      </button>
      {isOpen && <EntryCopyMenu entry={entry} log={log} />}
      {isOpen && <Tree label={`Entry ${seq}`} value={event ?? record} openLevels={7} />}
    </div>
  )
}

function isSelected({ event, record }: Entry, { eventId, callId }: Selection): boolean {
  if (eventId !== '') return event?.id === eventId
  return record?.type === 'request' && record.callId === callId
}

/** The entries that match. While a search goes on, those found so far. */
function useFiltered(entries: readonly Entry[], filter: LogFilter): readonly Entry[] {
  const isEverything = filter.text === '' && filter.kind === 'all'
  const [found, setFound] = useState<readonly Entry[]>(entries)
  useEffect(() => {
    if (isEverything) return
    const controller = new AbortController()
    void filterEntries(entries, filter, { signal: controller.signal, onFound: setFound })
    return () => controller.abort()
  }, [entries, filter])
  return isEverything ? entries : found
}
