// The lists of the stores. A store that cannot read a list in parts is read as a whole.

import type { Event } from '../../../core/event/event.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { ArtifactKey, ArtifactService, ArtifactVersion } from '../../../services/artifact/service.ts'
import { pageOf, readPagePosition } from '../../../services/session/page.ts'
import type { Page, PageOptions, Session, SessionKey, SessionService } from '../../../services/session/service.ts'
import { sessionNotFound } from '../../../services/session/session-errors.ts'
import { EventWriter } from '../wire/event-writer.ts'
import { writeSession } from '../wire/write-session.ts'
import type { ListSource } from './list-text.ts'

/** The sessions of a user without events, except some. */
export function sessionSource(
  service: SessionService,
  user: { readonly appName: string; readonly userId: string; readonly newestFirst: boolean },
  isShown: (session: Session) => boolean,
): ListSource<Session> {
  return {
    read: async (options) => {
      if (service.listSessionPage) return await service.listSessionPage({ ...user, ...options })
      const all = await service.listSessions(user)
      return pageOf(user.newestFirst ? all.reverse() : all, options)
    },
    write: (session) => (isShown(session) ? [[session.id, writeSession(session)]] : []),
  }
}

/** The events of a session. Throws `NOT_FOUND` if it does not exist. */
export function eventSource(service: SessionService, key: SessionKey): ListSource<Event> {
  const writer = new EventWriter()
  return {
    read: (options) => readEventPage(service, key, options),
    write: (event) => writer.write(event).map((wire) => [wire.id, wire] as const),
  }
}

/** A part of the events of a session. */
export async function readEventPage(
  service: SessionService,
  key: SessionKey,
  options: PageOptions,
): Promise<Page<Event>> {
  if (!service.readLog) {
    const session = await service.getSession(key)
    if (!session) throw sessionNotFound(key.sessionId)
    return pageOf(session.events, options)
  }
  const { limit, maxBytes } = options
  const fromSeq = readPagePosition(options) + 1
  const log = await service.readLog({ ...key, fromSeq, limit, maxBytes })
  if (!log) throw sessionNotFound(key.sessionId)
  const items = log.entries.flatMap(({ event }) => event ?? [])
  const last = log.entries.at(-1)?.seq
  return last === undefined || last >= log.lastSeq ? { items } : { items, next: String(last) }
}

/** The pending requests of an app, of one user or of all. */
export function pendingSource(
  runner: Runner,
  filter: { readonly userId?: string | undefined; readonly sessionId?: string | undefined },
): ListSource<PendingRequest> {
  return {
    read: (options) => runner.pendingPage({ ...filter, ...options }),
    write: (request) => [[JSON.stringify([request.userId, request.sessionId, request.id]), request]],
  }
}

/** The names of the artifacts of a session. */
export function artifactSource(service: ArtifactService, key: SessionKey): ListSource<string> {
  return {
    read: async (options) => {
      if (service.listArtifactPage) return await service.listArtifactPage({ ...key, ...options })
      return pageOf(await service.listArtifactKeys(key), options)
    },
    write: (name) => [[name, name]],
  }
}

/** The versions of an artifact with their metadata. */
export function versionSource(service: ArtifactService, key: ArtifactKey): ListSource<ArtifactVersion> {
  return {
    read: async (options) => {
      if (service.listVersionPage) return await service.listVersionPage({ ...key, ...options })
      return pageOf(await service.listArtifactVersions(key), options)
    },
    write: (version) => [[String(version.version), version]],
  }
}
