// Sessions as files.
import { isRecord, type JsonObject } from '../../../src/core/base/json.ts'
import { createSession, getSession } from '../api/sessions.ts'
import type { SessionKey } from '../api/types.ts'
import { ChatFold } from '../chat/fold.ts'
import { openLog } from '../session/open-logs.ts'
import { refreshSessions } from '../sessions/session-list.ts'
import { navigate } from '../state/route.ts'
import { download } from '../ui/download.ts'
import { writeMarkdown } from './markdown.ts'

/** Saves a session with its state and events. `importSession()` reads the file. */
export async function exportJson(key: SessionKey, title: string): Promise<void> {
  save(JSON.stringify(await getSession(key), null, 2), `${title}.json`)
}

/** Saves a conversation for people to read. */
export async function exportMarkdown(key: SessionKey, title: string): Promise<void> {
  const log = openLog(key)
  await log.loadAll()
  save(writeMarkdown(title, new ChatFold().update(log.view.value)), `${title}.md`)
}

/** Creates a session from an exported file, and opens it. The server marks its events as imported. */
export async function importSession(app: string, userId: string, file: Blob): Promise<void> {
  const given: unknown = JSON.parse(await file.text())
  if (!isRecord(given) || !Array.isArray(given.events)) throw new Error('This file is no exported session.')
  const { id } = await createSession(app, userId, ownState(given.state), given.events)
  void refreshSessions()
  navigate({ view: 'session', app, sessionId: id, tab: 'chat' })
}

/** The keys of the session itself: those of the user and of the app belong to others, too. */
function ownState(state: unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(isRecord(state) ? state : {}).filter(([key]) => !/^(app|user|temp|trusted):/.test(key)),
  )
}

function save(text: string, name: string): void {
  download(new TextEncoder().encode(text), name.replace(/[^\p{L}\p{N}. -]+/gu, '-'))
}
