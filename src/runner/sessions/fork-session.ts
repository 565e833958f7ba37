import type { JsonObject } from '../../base/json.ts'
import { scopeOfKey } from '../../base/key-scope.ts'
import { messageOf, ToolwrightError } from '../../error/error.ts'
import type { Entry, Event } from '../../event/event.ts'
import type { SessionKey } from '../../session/service.ts'
import type { RunStarter } from '../run/run-starter.ts'
import type { RunServices } from '../run-services.ts'
import { copyArtifacts, deleteArtifacts, withCopiedArtifacts } from './copy-artifacts.ts'

/** Entries per append, so that one append stays small. */
const CHUNK = 500

interface Fork {
  /** The session to copy. */
  readonly key: SessionKey
  /** The copy ends before this event, or before the first entry of this invocation. */
  readonly before: string
  /** The new session. */
  readonly target: SessionKey
}

/**
 * Copies the log of a session, records included, up to an event, into a new session. State that other sessions share is not
 * written again. Invocations that are unfinished at the end of the copy end as cancelled there.
 */
export async function forkSession({ key, before, target }: Fork, starter: RunStarter): Promise<void> {
  const { sessionService, artifactService } = starter.services
  const source = await starter.withHeld(await sessionService.claim(key), async ({ log }) => ({
    entries: [...log.entries],
    state: stateOf(log.state),
  }))
  const cut = indexOf(source.entries, before, key.sessionId)
  const copy = { source: key, target }
  const copied = source.entries
    .slice(0, cut)
    .map(({ event, record }) => (event ? { event: withCopiedArtifacts(withOwnState(event), copy) } : { record }))
  await sessionService.createSession({ ...target, state: initialState(source.entries, source.state) })
  try {
    const lease = await sessionService.claim(target)
    if (artifactService) await copyArtifacts(copy, artifactService, existedBefore(source.entries, cut))
    let seq = lease.seq
    for (let at = 0; at < copied.length; at += CHUNK) {
      seq = await sessionService.append(lease, seq, copied.slice(at, at + CHUNK))
    }
    await starter.withHeld(lease, (held) => starter.closeCopied(held, 'The session was copied up to here.'))
  } catch (error) {
    await removeCopy(target, starter.services)
    throw error
  }
}

/** Removes what a failed copy has written. The error of the copy says what failed. */
async function removeCopy(target: SessionKey, { sessionService, artifactService, logger }: RunServices): Promise<void> {
  const warn = (error: unknown): void =>
    logger.warn(`A part of the failed copy "${target.sessionId}" was not removed: ${messageOf(error)}`, error)
  if (artifactService) await deleteArtifacts(target, artifactService).catch(warn)
  await sessionService.deleteSession(target).catch(warn)
}

/** The index of the event, or of the first entry of the invocation, with this id. */
function indexOf(entries: readonly Entry[], id: string, sessionId: string): number {
  const at = entries.findIndex(({ event, record }) => event?.id === id || (event ?? record)?.invocationId === id)
  if (at >= 0) return at
  throw new ToolwrightError(
    'NOT_FOUND',
    `Session "${sessionId}" has no event and no invocation "${id}". Pass the id of an event or an invocation.`,
  )
}

/** Was an artifact saved before the cut? The media of an event is saved after the time of the event. */
function existedBefore(entries: readonly Entry[], cut: number): (createTime: number) => boolean {
  const last = entries.slice(0, cut).findLast(({ event }) => event)?.event?.timestamp ?? 0
  const next = entries.slice(cut).find(({ event }) => event)?.event?.timestamp ?? 0
  return (createTime) => createTime <= last || createTime < next
}

/** The event without changes of state that other sessions share: replaying them would undo later changes. */
function withOwnState(event: Event): Event {
  const { stateDelta, ...actions } = event.actions
  if (!stateDelta) return event
  const own = Object.fromEntries(Object.entries(stateDelta).filter(([name]) => scopeOfKey(name) === 'session'))
  return { ...event, actions: Object.keys(own).length ? { ...actions, stateDelta: own } : actions }
}

/** The state that the session was created with, as far as no event has written it. */
function initialState(entries: readonly Entry[], state: JsonObject): JsonObject {
  const written = new Set(entries.flatMap(({ event }) => Object.keys(event?.actions.stateDelta ?? {})))
  return Object.fromEntries(
    Object.entries(state).filter(([name]) => scopeOfKey(name) === 'session' && !written.has(name)),
  )
}

function stateOf(reader: { get(key: string): unknown; keys(): Iterable<string> }): JsonObject {
  return Object.fromEntries(Array.from(reader.keys(), (name) => [name, reader.get(name)]))
}
