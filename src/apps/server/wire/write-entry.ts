import type { Entry, LogRecord } from '../../../core/event/event.ts'
import { writeEvent } from './write-event.ts'

/** An entry of the log for developers: events in the form of the wire, records without what only a tool body may see. */
export function writeEntry(entry: Entry): object {
  const { seq } = entry
  if (entry.record) return { seq, record: withoutSealed(entry.record) }
  return { seq, event: writeEvent(entry.event, { forDevelopers: true }) }
}

function withoutSealed(record: LogRecord): LogRecord {
  if (record.type !== 'request') return record
  const { sealed: _, ...shown } = record
  return shown
}
