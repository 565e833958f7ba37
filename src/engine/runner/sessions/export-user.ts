import type { JsonObject } from '../../../core/base/json.ts'
import { setOwn } from '../../../core/base/json.ts'
import { isUserFilename, scopeOfKey } from '../../../core/base/key-scope.ts'
import { messageOf } from '../../../core/error/error.ts'
import { checkUser } from '../../../services/session/check-key.ts'
import type { Page, PageOptions, Session, SessionKey } from '../../../services/session/service.ts'
import type { RunServices } from '../run-services.ts'
import { exportLog } from './export-log.ts'
import type { ExportedItem, ReadOrReport } from './exported-item.ts'
import { type UserKey, userSessions } from './user-sessions.ts'

/** How many items are read at a time. */
const PAGE_ITEMS = 100
/** How many bytes of items are read at a time. */
const PAGE_BYTES = 1_000_000

/**
 * All that the services hold for a user, one item at a time. What is damaged is reported and left out as `unreadable`; the rest follows.
 */
export async function* exportUser(user: UserKey, services: RunServices): AsyncGenerator<ExportedItem, void> {
  checkUser(user)
  const unreadable: ExportedItem[] = []
  const readOrReport: ReadOrReport = async (what, read) => {
    try {
      return await read()
    } catch (error) {
      services.logger.warn(`The export of a user lacks ${what}: ${messageOf(error)}`, error)
      unreadable.push({ type: 'unreadable', what })
      return undefined
    }
  }
  const items = withReports(exportItems(user, services, readOrReport), unreadable)
  for await (const item of items) yield item
}

/** Yields the reports after the items that were read before them. */
async function* withReports(
  items: AsyncIterable<ExportedItem>,
  reports: ExportedItem[],
): AsyncGenerator<ExportedItem, void> {
  for await (const item of items) {
    yield* reports.splice(0)
    yield item
  }
  yield* reports.splice(0)
}

async function* exportItems(
  user: UserKey,
  services: RunServices,
  readOrReport: ReadOrReport,
): AsyncGenerator<ExportedItem, void> {
  const { sessionService, scheduleService, memoryService, credentialService } = services
  let shared = await readOrReport('the user: state', async () => sessionService.userState?.(user))
  for await (const session of userSessions(user, services)) {
    const key = { ...user, sessionId: session.id }
    shared ??= stateOf(session, 'user')
    const { lastUpdateTime } = session
    yield { type: 'session', sessionId: session.id, lastUpdateTime, state: stateOf(session, 'session') }
    yield* exportLog(key, services, readOrReport)
    yield* exportPending(key, services, readOrReport)
    yield* exportArtifacts(key, services, { ofUser: false, readOrReport })
  }
  if (shared && Object.keys(shared).length > 0) yield { type: 'state', state: shared }
  yield* exportArtifacts({ ...user, sessionId: 'any' }, services, { ofUser: true, readOrReport })
  const schedules = pagesOf((page) => scheduleService.listSchedules({ ...user, ...page }))
  for await (const schedule of schedules) yield { type: 'schedule', schedule }
  const memories = pagesOf((page) => memoryService?.listMemories?.({ ...user, ...page }))
  for await (const memory of memories) yield { type: 'memory', ...memory }
  const keys = await readOrReport('the keys of credentials', async () => credentialService.list?.(user))
  for (const key of keys ?? []) yield { type: 'credential', key }
}

/** The state of one scope. `app:` state belongs to no user. */
function stateOf({ state }: Session, scope: 'user' | 'session'): JsonObject {
  const own: JsonObject = {}
  for (const key of Object.keys(state)) if (scopeOfKey(key) === scope) setOwn(own, key, state[key])
  return own
}

async function* exportPending(
  key: SessionKey,
  { sessionService }: RunServices,
  readOrReport: ReadOrReport,
): AsyncGenerator<ExportedItem, void> {
  const { sessionId } = key
  const requests = await readOrReport(`the pending requests of session "${sessionId}"`, () =>
    sessionService.pending(key),
  )
  for (const request of requests ?? []) yield { type: 'pending', sessionId, request }
}

async function* exportArtifacts(
  key: SessionKey,
  { artifactService }: RunServices,
  { ofUser, readOrReport }: { ofUser: boolean; readOrReport: ReadOrReport },
): AsyncGenerator<ExportedItem, void> {
  const { sessionId } = key
  const names =
    artifactService && (await readOrReport('the list of artifacts', () => artifactService.listArtifactKeys(key)))
  for (const filename of names ?? []) {
    if (!artifactService || isUserFilename(filename) !== ofUser) continue
    const file = { ...key, filename }
    const numbers = await readOrReport(`artifact "${filename}"`, () => artifactService.listVersions(file))
    for (const version of numbers ?? []) {
      const what = `version ${version} of artifact "${filename}" of session "${sessionId}"`
      const described = await readOrReport(what, () => artifactService.getArtifactVersion({ ...file, version }))
      const part = described && (await readOrReport(what, () => artifactService.loadArtifact({ ...file, version })))
      if (part) yield { type: 'artifact', ...(!ofUser && { sessionId }), filename, version: described, part }
    }
  }
}

/** The items of a list that is read in pages. */
async function* pagesOf<T>(readPage: (options: PageOptions) => Promise<Page<T>> | undefined): AsyncGenerator<T, void> {
  let after: string | undefined
  do {
    const page: Page<T> | undefined = await readPage({ limit: PAGE_ITEMS, maxBytes: PAGE_BYTES, after })
    yield* page?.items ?? []
    after = page?.next
  } while (after !== undefined)
}
