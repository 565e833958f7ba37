import type { Entry } from '../../../core/event/event.ts'
import type { LogPage, SessionKey, SessionService } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'
import type { ExportedItem, ReadOrReport } from './exported-item.ts'

/** How many entries are read at a time. */
const PAGE_ENTRIES = 100
/** How many bytes of entries are read at a time. */
const PAGE_BYTES = 1_000_000

type LogReader = SessionService & Required<Pick<SessionService, 'readLog'>>

/** The entries of a session, a page at a time. A store without `readLog` gives its events, all at once. */
export async function* exportLog(
  key: SessionKey,
  { sessionService }: RunServices,
  readOrReport: ReadOrReport,
): AsyncGenerator<ExportedItem, void> {
  const { sessionId } = key
  if (canReadLog(sessionService)) {
    for await (const entry of readEntries(key, sessionService, readOrReport)) yield { type: 'entry', sessionId, entry }
    return
  }
  const session = await readOrReport(`the log of session "${sessionId}"`, () => sessionService.getSession(key))
  for (const [at, event] of (session?.events ?? []).entries())
    yield { type: 'entry', sessionId, entry: { seq: at + 1, event } }
}

/** Reads page by page; where a page cannot be read, entry by entry. */
async function* readEntries(
  key: SessionKey,
  sessionService: LogReader,
  readOrReport: ReadOrReport,
): AsyncGenerator<Entry, void> {
  const length = await readOrReport(`the log of session "${key.sessionId}"`, () => lengthOf(key, sessionService))
  for (let fromSeq = 1; fromSeq <= (length ?? 0); ) {
    const options = { ...key, fromSeq, limit: PAGE_ENTRIES, maxBytes: PAGE_BYTES }
    const page = await sessionService.readLog(options).catch(() => readOne(options, sessionService, readOrReport))
    if (page?.entries.length === 0) return
    yield* page?.entries ?? []
    fromSeq = (page?.entries.at(-1)?.seq ?? fromSeq) + 1
  }
}

/** Reads one entry; undefined if it is damaged. */
async function readOne(
  options: SessionKey & { readonly fromSeq: number },
  sessionService: LogReader,
  readOrReport: ReadOrReport,
): Promise<LogPage | undefined> {
  const what = `entry ${options.fromSeq} of session "${options.sessionId}"`
  return await readOrReport(what, () => sessionService.readLog({ ...options, limit: 1 }))
}

async function lengthOf(key: SessionKey, sessionService: LogReader): Promise<number> {
  return (await sessionService.readLog({ ...key, limit: 0 }))?.lastSeq ?? 0
}

function canReadLog(service: SessionService): service is LogReader {
  return service.readLog !== undefined
}
