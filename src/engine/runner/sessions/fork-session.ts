import type { JsonObject } from '../../../core/base/json.ts'
import { scopeOfKey } from '../../../core/base/key-scope.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { Entry, Event, NewEntry } from '../../../core/event/event.ts'
import type { SessionKey } from '../../../services/session/service.ts'
import type { RunFactory } from '../run/run-factory.ts'
import { closeCopied, withHeld } from '../run/settle-session.ts'
import { copyArtifacts, type LogCopy, withCopiedArtifacts } from './copy-artifacts.ts'
import { completeCopy } from './unfinished-copy.ts'

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
 * written again. Invocations that are unfinished at the end of the copy end as cancelled there. Before that, no run can see the
 * copy: a killed process leaves no session that looks interrupted.
 */
export async function forkSession({ key, before, target }: Fork, factory: RunFactory): Promise<void> {
  const { sessionService, artifactService } = factory.services
  if (!sessionService.createCopy || !sessionService.claimUnfinishedCopies) throw noCopies()
  const source = await withHeld(factory, await sessionService.claim(key), async (held) => ({
    entries: [...(await held.allEntries())],
    state: stateOf(held.state),
  }))
  const cut = indexOf(source.entries, before, key.sessionId)
  const copy = { source: key, target }
  const copied = source.entries.slice(0, cut).map((entry) => copyEntry(entry, copy))
  const lease = await sessionService.createCopy({ ...target, state: initialState(source.entries, source.state) })
  await completeCopy(lease, factory.services, async () => {
    if (artifactService) await copyArtifacts(copy, artifactService, existedBefore(source.entries, cut))
    let { seq } = lease
    for (let at = 0; at < copied.length; at += CHUNK) {
      seq = await sessionService.append(lease, seq, copied.slice(at, at + CHUNK))
    }
    return await closeCopied(factory, lease, 'The session was copied up to here.')
  })
}

function noCopies(): ToolwrightError {
  const problem = 'The session service cannot copy sessions: it has no createCopy() and claimUnfinishedCopies()'
  return new ToolwrightError('INVALID_CONFIG', `${problem}. Implement both, or use another store for runner.fork().`)
}

/** The entry as the copy gets it. A request of an earlier version does not say to which session its answers belong. */
function copyEntry({ event, record }: Entry, copy: LogCopy): NewEntry {
  if (event) return { event: withCopiedArtifacts(withOwnState(event), copy) }
  return { record: record.type === 'request' ? { session: copy.source, ...record } : record }
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
