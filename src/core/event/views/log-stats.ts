import { isRecord } from '../../base/json.ts'
import type { NewEntry } from '../event.ts'
import { type LogReader, readLog } from './log-reader.ts'
import type { CallView, InvocationView } from './views.ts'
import { waitedSeconds } from './waited-seconds.ts'

/** What figures are grouped by. Calls of replies whose log names no model are `unknown`, as logs of earlier versions are. */
export type StatsGroup = 'tool' | 'agent' | 'model' | 'user'

/** Figures about the calls of one tool, agent, model or user. */
export interface CallStats {
  /** The name of the group. */
  readonly name: string
  /** The number of calls. */
  readonly calls: number
  /** Failures by code. */
  readonly failures: { readonly [code: string]: number }
  /** Half of the calls took at most this long, in milliseconds, without the time they waited. Undefined if no time is known. */
  readonly p50Ms: number | undefined
  /** 95 of 100 calls took at most this long. */
  readonly p95Ms: number | undefined
  /** Bytes of all results. */
  readonly resultBytes: number
  /** About how many tokens the results put into later requests: a quarter of their bytes, for each later request that could show them. */
  readonly carriedTokens: number
  /** Approvals that were asked for. */
  readonly approvalsAsked: number
  /** Approvals that were denied, or expired. */
  readonly approvalsDenied: number
  /** How long calls waited for people and for outside results, in seconds. */
  readonly waitedSeconds: number
  /** The share of approvals that were given in under two seconds. Undefined if none was given. */
  readonly fastApprovals: number | undefined
}

/** Sums figures over logs, one after another. It keeps sums, not calls. */
export class LogStats {
  readonly #by: StatsGroup
  readonly #since: number
  readonly #groups: Map<string, GroupSums> = new Map()

  /** `since`: earlier invocations are left out, in seconds since the epoch. */
  constructor(by: StatsGroup, since = 0) {
    this.#by = by
    this.#since = since
  }

  /** Adds the log of a session. Invocations that have ended are summed and forgotten while it is read. */
  addLog(entries: Iterable<NewEntry>, userId: string): void {
    let reader = readLog([])
    const session: SessionSums = { userId, carried: new Map() }
    let current: string | undefined
    for (const entry of entries) {
      const { invocationId } = entry.event ?? entry.record
      if (invocationId !== current && current !== undefined && isOver(reader)) {
        this.#add(reader, session)
        reader = readLog([])
      }
      current = invocationId
      reader.add(entry)
    }
    this.#add(reader, session)
  }

  /** The figures, the group with the most calls first. */
  figures(): CallStats[] {
    const all = Array.from(this.#groups, ([name, sums]) => sums.figures(name))
    return all.sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1))
  }

  #add(reader: LogReader, session: SessionSums): void {
    for (const invocation of reader.invocations()) {
      if (invocation.updatedAt < this.#since) continue
      this.#addInvocation(invocation, session)
    }
  }

  #addInvocation({ calls, replies }: InvocationView, { userId, carried }: SessionSums): void {
    const events = [
      ...calls.map((call) => ({ at: call.endedAt ?? Infinity, call, reply: undefined })),
      ...replies.map((reply) => ({ at: reply.endedAt, call: undefined, reply })),
    ].sort((one, other) => one.at - other.at || (one.reply ? 1 : -1))
    const models = new Map(replies.map(({ eventId, model }) => [eventId, model]))
    for (const { call, reply } of events) {
      if (reply?.isModel) for (const [sums, tokens] of carriedIn(carried, reply.path)) sums.carriedTokens += tokens
      if (!call || call.kind === 'toolset') continue
      const name = this.#nameOf(call, models.get(call.eventId), userId)
      const sums = this.#groups.get(name) ?? new GroupSums()
      this.#groups.set(name, sums)
      const tokens = sums.add(call) / BYTES_OF_A_TOKEN
      const inScope = carriedIn(carried, call.path)
      inScope.set(sums, (inScope.get(sums) ?? 0) + tokens)
    }
    // what scopes below the root have seen is not seen again in the next invocation
    for (const path of carried.keys()) if (path.includes('@')) carried.delete(path)
  }

  #nameOf(call: CallView, model: string | undefined, userId: string): string {
    if (this.#by === 'tool') return call.name
    if (this.#by === 'agent') return call.agent
    return this.#by === 'user' ? userId : (model ?? 'unknown')
  }
}

const BYTES_OF_A_TOKEN = 4
const FAST_APPROVAL_SECONDS = 2

interface SessionSums {
  readonly userId: string
  /** Tokens of results, by the scope whose requests show them. */
  readonly carried: Map<string, Map<GroupSums, number>>
}

function carriedIn(carried: SessionSums['carried'], path: string): Map<GroupSums, number> {
  const found = carried.get(path) ?? new Map<GroupSums, number>()
  carried.set(path, found)
  return found
}

/** Has every invocation of a part of a log ended? One that waits is answered later. */
function isOver(reader: LogReader): boolean {
  return reader.invocations().every(({ status }) => status === 'ended')
}

class GroupSums {
  #calls = 0
  readonly #failures: Map<string, number> = new Map()
  readonly #times = new TimeHistogram()
  #resultBytes = 0
  carriedTokens = 0
  #asked = 0
  #denied = 0
  #waited = 0
  #approved = 0
  #fast = 0

  /** Adds a call. Returns the bytes of its result. */
  add(call: CallView): number {
    this.#calls++
    if (call.status !== 'completed' && call.error) {
      const code = call.status === 'denied' ? 'DENIED' : (call.error.code ?? 'ERROR')
      this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1)
    }
    const waited = waitedSeconds(call)
    this.#waited += waited
    if (call.endedAt !== undefined && call.gate === 'passed')
      this.#times.add(
        Math.max(
          0,
          call.startedAt === undefined ? call.endedAt - call.madeAt - waited : call.endedAt - call.startedAt,
        ) * 1000,
      )
    for (const { kind, answer, createdAt } of call.requests) {
      if (kind !== 'confirmation') continue
      this.#asked++
      if (answer?.type === 'denied' || answer?.type === 'expired') this.#denied++
      if (answer?.type !== 'approved') continue
      this.#approved++
      if (answer.at !== undefined && answer.at - createdAt < FAST_APPROVAL_SECONDS) this.#fast++
    }
    const shown = call.response?.modelOutput?.response ?? call.response?.response
    const bytes = isRecord(shown) ? byteLength(JSON.stringify(shown)) : 0
    this.#resultBytes += bytes
    return bytes
  }

  figures(name: string): CallStats {
    return {
      name,
      calls: this.#calls,
      failures: Object.fromEntries([...this.#failures].sort(([one], [other]) => (one < other ? -1 : 1))),
      p50Ms: this.#times.quantile(0.5),
      p95Ms: this.#times.quantile(0.95),
      resultBytes: this.#resultBytes,
      carriedTokens: Math.round(this.carriedTokens),
      approvalsAsked: this.#asked,
      approvalsDenied: this.#denied,
      waitedSeconds: Math.round(this.#waited * 1000) / 1000,
      fastApprovals: this.#approved === 0 ? undefined : this.#fast / this.#approved,
    }
  }
}

/** Counts times in buckets that grow by 2 %: a quantile is that exact, whatever the number of times. */
class TimeHistogram {
  readonly #buckets: Map<number, number> = new Map()
  #count = 0

  add(ms: number): void {
    const bucket = ms < 0.001 ? -Infinity : Math.ceil(Math.log(ms) / GROWTH)
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1)
    this.#count++
  }

  quantile(share: number): number | undefined {
    let left = Math.ceil(this.#count * share)
    for (const [bucket, count] of [...this.#buckets].sort(([one], [other]) => one - other)) {
      left -= count
      if (left <= 0) return Math.round(Math.exp(bucket * GROWTH) * 1000) / 1000
    }
    return undefined
  }
}

const GROWTH = Math.log(1.02)

/** The length in UTF-8. Most results are ASCII. */
function byteLength(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}
