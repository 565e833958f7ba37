// A log without what differs from run to run: times, generated ids, and how concurrent scopes interleave.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { Event, LogRecord, NewEntry } from '../../../core/event/event.ts'

/** An entry that can be compared with one of another run. */
export interface ComparableEntry {
  /** Its position in its log, from 1 on. */
  readonly seq: number
  /** Who made it. */
  readonly what: string
  /** The entry without times and with renamed ids. */
  readonly value: JsonObject
}

/** The entries of each scope of each invocation, in order. Scopes that work at the same time interleave in any order. */
export type ComparableLog = ReadonlyMap<string, readonly ComparableEntry[]>

/** The ids of a log in the order of their appearance. */
export class IdNames {
  readonly #names: Map<string, string> = new Map()

  /** Adds the generated ids of a log. Call it for the recorded log first: its results may name its ids in a replay, too. */
  add(entries: readonly NewEntry[]): void {
    const counts: Record<string, number> = {}
    const seen = new Set<string>()
    // each log counts its own ids, so that the n-th id of a kind has the same name in both
    const once = (kind: string, id: string | undefined): void => {
      if (id === undefined || id === '' || seen.has(id)) return
      seen.add(id)
      counts[kind] = (counts[kind] ?? 0) + 1
      if (!this.#names.has(id)) this.#names.set(id, `<${kind} ${counts[kind]}>`)
    }
    for (const { event, record } of entries) {
      once('invocation', (event ?? record)?.invocationId)
      if (record?.type === 'request') once('request', record.id)
      for (const { functionCall, executableCode } of event?.author === 'user' ? [] : (event?.content?.parts ?? []))
        once('call', functionCall?.id ?? executableCode?.id)
    }
  }

  /** The name of an id; the id itself if it is not known. */
  of(id: string): string {
    return this.#names.get(id) ?? id
  }

  /** A text with names instead of ids. */
  rename(text: string): string {
    if (text.length > MAX_RENAMED) return text
    return text.replace(ID_LIKE, (found) => this.#names.get(found) ?? found)
  }
}

/** A longer text is a result or a message, in which ids do not matter. */
const MAX_RENAMED = 10_000
/** A whole word, as ids are. */
const ID_LIKE = /[\w.:-]+/g

/** Makes a log comparable. */
export function comparableLog(entries: readonly NewEntry[], ids: IdNames): ComparableLog {
  const scopes = new Map<string, ComparableEntry[]>()
  for (const [at, entry] of entries.entries()) {
    const { key, what, value } = describe(entry, ids)
    const scope = scopes.get(key) ?? []
    const made: ComparableEntry = { seq: at + 1, what, value: renamed(value, ids) as JsonObject }
    const joined = join(scope.at(-1), made)
    if (joined) scope[scope.length - 1] = joined
    else scope.push(made)
    scopes.set(key, scope)
  }
  return scopes
}

function describe({ event, record }: NewEntry, ids: IdNames): { key: string; what: string; value: JsonObject } {
  if (event) return { key: keyOf(event, ids), what: `event of ${event.author}`, value: comparableEvent(event) }
  return { key: keyOf(record, ids), what: `record ${record.type}`, value: comparableRecord(record) }
}

function keyOf(entry: Event | LogRecord, ids: IdNames): string {
  const path = 'author' in entry ? entry.nodeInfo?.path : 'path' in entry ? entry.path : undefined
  return `${ids.of(entry.invocationId)} ${renamedPath(path ?? '', ids)}`
}

/** A path whose steps name calls: `root/agent@call`. */
function renamedPath(path: string, ids: IdNames): string {
  return path.replace(/@([^/]+)/g, (_, id) => `@${ids.of(id)}`)
}

function comparableEvent(event: Event): JsonObject {
  const { id, invocationId, timestamp, callTimes, failedAttempts, modelVersion, ...rest } = event
  return { ...rest }
}

function comparableRecord(record: LogRecord): JsonObject {
  if (record.type === 'request') {
    const { createdAt, expiresAt, session, definition, authConfig, ...rest } = record
    return { ...rest }
  }
  return { ...record }
}

/** Fast results of a batch are recorded before slow ones: which are fast is no property of the code. */
function join(before: ComparableEntry | undefined, after: ComparableEntry): ComparableEntry | undefined {
  const [one, two] = [before?.value, after.value]
  if (!before || !hasOnlyResponses(one) || !hasOnlyResponses(two)) return undefined
  const parts = [...one.content.parts, ...two.content.parts]
  return {
    ...before,
    value: { ...one, content: { role: 'tool', parts: inOrder(parts) }, actions: joinActions(one, two) },
  }
}

interface Responses extends JsonObject {
  readonly content: { readonly parts: readonly Part[] }
  readonly actions: JsonObject
}

function hasOnlyResponses(value: JsonObject | undefined): value is Responses {
  const { content, actions, author } = value ?? {}
  if (author === 'user' || !isRecord(content) || content.role !== 'tool' || !Array.isArray(content.parts)) return false
  return isRecord(actions) && content.parts.every((part: Part) => part.functionResponse)
}

function inOrder(parts: readonly Part[]): Part[] {
  const nameOf = (part: Part): string => part.functionResponse?.id ?? ''
  return [...parts].sort((one, two) => nameOf(one).localeCompare(nameOf(two), 'en', { numeric: true }))
}

function joinActions({ actions: one }: Responses, { actions: two }: Responses): JsonObject {
  const joined: JsonObject = { ...one, ...two }
  for (const delta of ['stateDelta', 'artifactDelta']) {
    const [first, second] = [one[delta], two[delta]]
    if (isRecord(first) && isRecord(second)) joined[delta] = { ...first, ...second }
  }
  return joined
}

function renamed(value: unknown, ids: IdNames): unknown {
  if (typeof value === 'string') return ids.rename(value)
  if (Array.isArray(value)) return value.map((item) => renamed(item, ids))
  if (!isRecord(value)) return value
  const made: JsonObject = {}
  for (const [key, member] of Object.entries(value))
    if (member !== undefined) made[ids.rename(key)] = renamed(member, ids)
  return made
}

/** Are two entries equal? */
export function isEqualEntry(one: ComparableEntry, other: ComparableEntry): boolean {
  return canonicalJson(one.value) === canonicalJson(other.value)
}
