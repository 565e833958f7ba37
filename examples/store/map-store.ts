// A session store to copy: all methods that `sessionServiceSuite` asks for, over maps. Replace the maps by your database, and
// each method that changes something by one transaction. The guide is docs/guides/add-a-store.md.
//   npx node --test examples/store/map-store.test.ts
import {
  type Event,
  type InMemorySessionOptions,
  type JsonObject,
  type PendingRequest,
  type Session,
  type SessionKey,
  type SessionService,
  ToolwrightError,
} from 'toolwright'
import {
  type AppendOptions,
  checkInboxItem,
  checkNewSessionKey,
  checkPendingRequest,
  checkPin,
  checkSessionFilter,
  checkSessionKey,
  type Entry,
  type HeldLog,
  type InboxItem,
  importedEvents,
  type Lease,
  type NewEntry,
  type PinService,
  type PostedItem,
  toStorableEntry,
} from 'toolwright/store'

/** One session: in a database, a row and the rows that belong to it. */
interface Row {
  readonly key: SessionKey
  readonly log: Entry[]
  readonly state: Map<string, unknown>
  readonly pending: Map<string, { order: number; request: PendingRequest }>
  readonly postedIds: Set<string>
  inbox: PostedItem[]
  isCopy: boolean
  lease: { epoch: number; endsAt: number } | undefined // undefined: released
  updatedAt: number
}

/** Stores sessions in maps. `SessionService` says what each method does, and the guide why. */
export class MapStore implements SessionService {
  readonly pins: PinService = new MapPins()
  readonly #rows = new Map<string, Row>()
  readonly #shared = new Map<string, Map<string, unknown>>() // user: and app: state
  #lastEpoch = 0
  #lastOrder = 0
  readonly #now: () => number
  readonly #monotonicNow: () => number
  readonly #leaseMs: number

  constructor(options: InMemorySessionOptions = {}) {
    const { now = Date.now, monotonicNow = () => performance.now(), leaseMs = 15_000 } = options
    this.#now = now
    this.#monotonicNow = monotonicNow
    this.#leaseMs = leaseMs
  }

  async createSession(options: Parameters<SessionService['createSession']>[0]): Promise<Session> {
    const { appName, userId, sessionId = crypto.randomUUID(), state, events = [] } = options
    const imported = importedEvents(events, () => crypto.randomUUID()) // throws before anything is stored
    const row = this.#create({ appName, userId, sessionId }, state)
    this.#add(
      row,
      imported.map((event) => ({ event })),
    )
    return this.#toSession(row, eventsOf(row))
  }

  async getSession({ config, ...key }: Parameters<SessionService['getSession']>[0]): Promise<Session | undefined> {
    const row = this.#find(key)
    if (!row) return undefined
    const { numRecentEvents, afterTimestamp = 0 } = config ?? {}
    const events = eventsOf(row).filter(({ timestamp }) => timestamp >= afterTimestamp)
    return this.#toSession(
      row,
      events.slice(numRecentEvents === undefined ? 0 : Math.max(0, events.length - numRecentEvents)),
    )
  }

  async listSessions({ appName, userId }: { appName: string; userId: string }): Promise<Session[]> {
    checkSessionFilter({ appName, userId })
    return this.#sessions({ appName, userId }).map((row) => this.#toSession(row, []))
  }

  async deleteSession(key: SessionKey): Promise<void> {
    if (this.#find(key)) this.#rows.delete(idOf(key))
  }

  async claim(key: SessionKey): Promise<Lease> {
    const row = this.#existing(key)
    if (row.lease && this.#monotonicNow() < row.lease.endsAt)
      throw new ToolwrightError('SESSION_BUSY', `Session "${key.sessionId}" is in use.`)
    return this.#lease(row)
  }

  async renew(lease: Lease): Promise<Lease> {
    const row = this.#held(lease)
    if (row.lease?.endsAt === Number.NEGATIVE_INFINITY)
      throw new ToolwrightError('LEASE_LOST', 'The lease was released as interrupted.')
    row.lease = { epoch: lease.epoch, endsAt: this.#monotonicNow() + this.#leaseMs }
    return { ...lease, key: { ...row.key } }
  }

  async release(lease: Lease, { interrupted = false }: { interrupted?: boolean | undefined } = {}): Promise<void> {
    const row = this.#rows.get(idOf(lease.key))
    if (row?.lease?.epoch !== lease.epoch) return // another holder has it: nothing to release
    if (row.isCopy) this.#rows.delete(idOf(lease.key))
    row.lease = interrupted ? { epoch: lease.epoch, endsAt: Number.NEGATIVE_INFINITY } : undefined
  }

  async read(lease: Lease): Promise<HeldLog> {
    const row = this.#held(lease)
    const get = (key: string) => this.#scope(row, key)?.get(key)
    return { entries: structuredClone(row.log), state: { get, keys: () => Object.keys(this.#state(row)) } }
  }

  /** In a database: one transaction. Whatever can throw comes first. */
  async append(
    lease: Lease,
    expectedSeq: number,
    entries: readonly NewEntry[],
    options: AppendOptions = {},
  ): Promise<number> {
    const { drained = [], pending, completesCopy } = options
    const row = this.#held(lease)
    let seq = seqOfRepeat(row, expectedSeq, entries) // the writer lost the reply to its append, and repeats it
    if (seq === undefined) {
      if (expectedSeq !== row.log.length)
        throw new ToolwrightError(
          'STALE_APPEND',
          `Expected sequence ${expectedSeq}, but the log is at ${row.log.length}.`,
        )
      const storable = entries.map(toStorableEntry)
      const opened = structuredClone((pending?.opened ?? []).map(checkPendingRequest))
      seq = this.#add(row, storable)
      row.inbox = row.inbox.filter(({ id }) => !drained.includes(id))
      const isOpened = new Set(opened.map(({ id }) => id))
      const closed =
        pending?.closed === 'all' ? [...row.pending.keys()].filter((id) => !isOpened.has(id)) : pending?.closed
      for (const id of closed ?? []) row.pending.delete(id)
      for (const request of opened) {
        const order = row.pending.get(request.id)?.order ?? ++this.#lastOrder
        row.pending.set(request.id, { order, request })
      }
      row.updatedAt = this.#now()
    }
    if (completesCopy) row.isCopy = false
    return seq
  }

  async post(key: SessionKey, item: InboxItem): Promise<number> {
    const row = this.#existing(key)
    if (row.postedIds.has(item.id)) return row.log.length
    checkInboxItem(item, row.inbox.length)
    row.inbox.push({ ...structuredClone(item), seq: row.log.length })
    row.postedIds.add(item.id)
    return row.log.length
  }

  async inbox(lease: Lease): Promise<PostedItem[]> {
    return structuredClone(this.#held(lease).inbox)
  }

  async pending(filter: Parameters<SessionService['pending']>[0]): Promise<PendingRequest[]> {
    checkSessionFilter(filter)
    const stored = this.#sessions(filter).flatMap((row) => [...row.pending.values()])
    return structuredClone(stored.sort((a, b) => a.order - b.order).map(({ request }) => request))
  }

  async interrupted({ appName }: { appName: string }): Promise<SessionKey[]> {
    checkSessionFilter({ appName })
    return this.#sessions({ appName })
      .filter((row) => this.#isOver(row))
      .map(({ key }) => ({ ...key }))
  }

  async createCopy({ state, ...key }: Parameters<NonNullable<SessionService['createCopy']>>[0]): Promise<Lease> {
    const row = this.#create(key, state)
    row.isCopy = true
    return this.#lease(row)
  }

  async claimUnfinishedCopies({ appName }: { appName: string }): Promise<Lease[]> {
    const copies = [...this.#rows.values()].filter((row) => row.isCopy && row.key.appName === appName)
    return copies.filter((row) => this.#isOver(row)).map((row) => this.#lease(row))
  }

  #create({ appName, userId, sessionId }: SessionKey, state: JsonObject = {}): Row {
    const key = { appName, userId, sessionId }
    checkNewSessionKey(key)
    if (this.#rows.has(idOf(key))) throw new ToolwrightError('ALREADY_EXISTS', `Session "${sessionId}" already exists.`)
    const parts = { log: [], state: new Map(), pending: new Map(), postedIds: new Set<string>(), inbox: [] }
    const row: Row = { key, ...parts, isCopy: false, lease: undefined, updatedAt: this.#now() }
    this.#apply(row, state)
    this.#rows.set(idOf(key), row)
    return row
  }

  #find(key: SessionKey): Row | undefined {
    checkSessionKey(key)
    const row = this.#rows.get(idOf(key))
    return row?.isCopy ? undefined : row
  }

  #existing(key: SessionKey): Row {
    const row = this.#find(key)
    if (!row) throw new ToolwrightError('NOT_FOUND', `Session "${key.sessionId}" does not exist.`)
    return row
  }

  #sessions({
    appName,
    userId,
    sessionId,
  }: {
    appName: string
    userId?: string | undefined
    sessionId?: string | undefined
  }): Row[] {
    const isAsked = (asked: string | undefined, id: string) => asked === undefined || asked === id
    const rows = [...this.#rows.values()].filter(({ key, isCopy }) => !isCopy && key.appName === appName)
    return rows.filter(({ key }) => isAsked(userId, key.userId) && isAsked(sessionId, key.sessionId))
  }

  #lease(row: Row): Lease {
    row.lease = { epoch: ++this.#lastEpoch, endsAt: this.#monotonicNow() + this.#leaseMs }
    return { key: { ...row.key }, epoch: row.lease.epoch, seq: row.log.length, leaseMs: this.#leaseMs }
  }

  /** The epoch decides, not the clock: a late holder may write until another one claims the session. */
  #held(lease: Lease): Row {
    const row = this.#rows.get(idOf(lease.key))
    if (!row) throw new ToolwrightError('SESSION_GONE', 'The session was deleted.')
    if (row.lease?.epoch !== lease.epoch) throw new ToolwrightError('LEASE_LOST', 'The lease is no longer held.')
    return row
  }

  #isOver({ lease }: Row): boolean {
    return lease !== undefined && lease.endsAt <= this.#monotonicNow()
  }

  /** Adds entries, except partial events and events that the log has. Returns the last sequence number. */
  #add(row: Row, entries: readonly NewEntry[]): number {
    for (const { event, record } of structuredClone(entries)) {
      const seq = row.log.length + 1
      if (!event) row.log.push({ seq, record })
      else if (!event.partial && seqOfEvent(row, event.id) === undefined) {
        row.log.push({ seq, event })
        this.#apply(row, event.actions.stateDelta ?? {})
      }
    }
    return row.log.length
  }

  #apply(row: Row, delta: JsonObject): void {
    for (const [key, value] of Object.entries(structuredClone(delta))) {
      if (value === null) this.#scope(row, key)?.delete(key)
      else this.#scope(row, key)?.set(key, value)
    }
  }

  /** The values that a key is stored with; undefined for `temp:`, which is not stored. */
  #scope({ key: { appName, userId }, state }: Row, key: string): Map<string, unknown> | undefined {
    if (key.startsWith('temp:')) return undefined
    if (!/^(app|user):/.test(key)) return state
    const id = JSON.stringify(key.startsWith('app:') ? [appName] : [appName, userId])
    const values = this.#shared.get(id) ?? new Map<string, unknown>()
    this.#shared.set(id, values)
    return values
  }

  #state(row: Row): JsonObject {
    const maps = [this.#scope(row, 'app:'), this.#scope(row, 'user:'), row.state]
    return structuredClone(Object.fromEntries(maps.flatMap((values) => [...(values ?? [])])))
  }

  #toSession(row: Row, events: readonly Event[]): Session {
    const { sessionId: id, appName, userId } = row.key
    return {
      id,
      appName,
      userId,
      state: this.#state(row),
      events: structuredClone(events),
      lastUpdateTime: row.updatedAt / 1000,
    }
  }
}

const idOf = ({ appName, userId, sessionId }: SessionKey) => JSON.stringify([appName, userId, sessionId])
const eventsOf = ({ log }: Row) => log.flatMap(({ event }) => (event ? [event] : []))
const seqOfEvent = ({ log }: Row, id: string) => log.find(({ event }) => event?.id === id)?.seq

/** The sequence number of an append that the log has already: its events by id, its records, which have no ids, by position. */
function seqOfRepeat(row: Row, expectedSeq: number, entries: readonly NewEntry[]): number | undefined {
  let seq: number | undefined
  for (const [index, { event, record }] of entries.entries()) {
    const stored = row.log[expectedSeq + index]
    if (event) seq = seqOfEvent(row, event.id)
    else seq = JSON.stringify(stored?.record) === JSON.stringify(record) ? stored?.seq : undefined
    if (seq === undefined) return undefined
  }
  return seq
}

/** Stores pins in a map. A database compares and sets in one statement. */
class MapPins implements PinService {
  readonly #pins = new Map<string, string>()

  async get({ appName }: { appName: string }, name: string): Promise<string | undefined> {
    checkPin(appName, name)
    return this.#pins.get(JSON.stringify([appName, name]))
  }

  async set(
    { appName }: { appName: string },
    name: string,
    hash: string,
    { expected }: { expected?: string | null | undefined } = {},
  ): Promise<boolean> {
    checkPin(appName, name, hash)
    const id = JSON.stringify([appName, name])
    if (expected !== undefined && expected !== (this.#pins.get(id) ?? null)) return false
    this.#pins.set(id, hash)
    return true
  }
}
