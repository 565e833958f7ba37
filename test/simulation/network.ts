// The network between processes and the store. Calls and answers can be lost, late or doubled.
import type { InMemorySessionService, SessionKey, SessionService } from 'toolwright'
import { ToolwrightError } from 'toolwright'
import type { AppendOptions, Entry, HeldLog, InboxItem, Lease, NewEntry } from 'toolwright/store'
import { type Fault, type JournalEntry, markIn } from './evidence.ts'
import type { Faults } from './faults.ts'
import type { Owner, World } from './world.ts'

/** A process that faults can kill or stall. */
export interface FallibleProcess extends Owner {
  die(when: string): void
  stall(ms: number, when: string): void
}

interface InFlight {
  readonly from: FallibleProcess
  readonly says: string
  readonly arrive: () => void
  isLost: boolean
}

type Method = keyof SessionService & keyof InMemorySessionService

const METHODS: readonly Method[] = [
  'createSession',
  'getSession',
  'listSessions',
  'deleteSession',
  'claim',
  'renew',
  'release',
  'read',
  'append',
  'post',
  'inbox',
  'pending',
  'interrupted',
]

/** Only plans with copies use them, so that the other simulations stay what they were. */
const COPY_METHODS: readonly Method[] = ['createCopy', 'claimUnfinishedCopies']

/** Sends the calls of processes to the store, and applies faults. */
export class Network {
  readonly journal: JournalEntry[] = []
  /** Ids in the logs of all sessions, for attackers that can read them. */
  readonly seen: { readonly requests: string[]; readonly calls: string[] } = { requests: [], calls: [] }
  readonly #world: World
  readonly #store: InMemorySessionService
  readonly #faults: Faults
  readonly #methods: readonly Method[]
  #inFlight: InFlight[] = []

  constructor(world: World, store: InMemorySessionService, faults: Faults, hasCopies: boolean) {
    this.#methods = hasCopies ? [...METHODS, ...COPY_METHODS] : METHODS
    this.#world = world
    this.#store = store
    this.#faults = faults
  }

  /** The store as one process sees it over the network. */
  serviceFor(process: FallibleProcess): SessionService {
    const memos = new Map<string, object>()
    const service: Partial<Record<Method, (...args: unknown[]) => Promise<unknown>>> = {}
    for (const method of this.#methods) {
      service[method] = async (...args) => {
        const answer = await this.#send(process, method, args)
        return method === 'read' ? ownLog(memos, args[0] as Lease, answer as HeldLog) : answer
      }
    }
    return service as unknown as SessionService // METHODS lists all methods, and each passes its arguments on
  }

  /** Posts an item directly to the store, like an attacker who has access to it. */
  async intrude(key: SessionKey, item: InboxItem): Promise<unknown> {
    return await this.#perform('intruder', 'post', [key, item], undefined)
  }

  /** Copies a part of the rows of a session to a new one that looks interrupted, past all processes. */
  async copyRows(from: SessionKey, to: SessionKey, share: number): Promise<void> {
    const { entries = [] } = (await this.#store.readLog(from)) ?? {}
    const approved = entries.findLastIndex(
      (entry) => kindOf(entry) === 'answer' && /"confirmed":true/.test(JSON.stringify(entry)),
    )
    const cut = approved >= 0 && share > 0.3 ? approved + 1 : Math.ceil(share * entries.length)
    const copied = entries.slice(0, cut) // often up to an approval: the call has not run there
    if (copied.length === 0) return
    await this.#store.createSession(to)
    const lease = await this.#store.claim(to)
    await this.#store.append(
      lease,
      0,
      copied.map(({ seq: _, ...entry }) => entry),
    )
    await this.#store.release(lease, { interrupted: true })
  }

  /** Decides for every call in flight of a dead process: it arrives, arrives late, or is lost. */
  cut(process: FallibleProcess): void {
    for (const one of this.#inFlight) {
      if (one.from !== process) continue
      const fate = this.#faults.fateOfTheSent()
      if (fate === 'arrives') continue
      one.isLost = true
      if (fate === 'late') this.#world.addLater(`${one.says}, long dead`, one.arrive, this.#faults.lateMs())
    }
  }

  #send(from: FallibleProcess, method: Method, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const what = method === 'append' ? (args[2] as NewEntry[]).map(kindOf) : [method]
      if (method === 'append' && isCopy(sessionOf(args))) what.push('copy')
      this.#travel(from, method, args, this.#faults.ofCall(what), (answer, fault) => {
        if (fault === 'storage' || fault === 'lost ack') {
          answer = Promise.reject(new ToolwrightError('STORAGE', 'The line is dead.'))
        }
        answer.catch(() => {}) // the caller handles it, if it is still alive
        this.#world.add(from, `receives ${method}`, () => answer.then(resolve, reject))
      })
    })
  }

  #travel(
    from: FallibleProcess,
    method: Method,
    args: readonly unknown[],
    fault: Fault | undefined,
    then: (answer: Promise<unknown>, fault: Fault | undefined) => void,
  ): void {
    const says = `${method}${describe(args)} of ${from.name}${fault ? ` (${fault})` : ''}`
    const arrive = (): void => {
      const what = `${method}${describe(args)}`
      if (fault === 'kill before') {
        from.die(`before ${what}`)
        return
      }
      const answer = this.#perform(from.name, method, args, fault)
      if (fault === 'kill after') {
        from.die(`after ${what}`)
        return
      }
      if (fault === 'stall') from.stall(this.#faults.stallMs(), `after ${what}`)
      if (fault === 'duplicate') this.#travel(from, method, args, 'repeat', () => {})
      then(answer, fault)
    }
    const flight: InFlight = { from, says, arrive, isLost: false }
    this.#inFlight.push(flight)
    const land = (): void => {
      this.#inFlight = this.#inFlight.filter((one) => one !== flight)
      if (!flight.isLost) arrive()
    }
    if (fault === 'late') this.#world.addLater(says, land, this.#faults.lateMs())
    else this.#world.add(undefined, says, land)
  }

  #perform(process: string, method: Method, args: readonly unknown[], fault: Fault | undefined): Promise<unknown> {
    const lease = leaseIn(args)
    const entry: JournalEntry = {
      tick: this.#world.tick(),
      at: this.#world.now,
      process,
      method,
      session: sessionOf(args),
      done: false,
      told:
        fault === 'kill after' || fault === 'repeat'
          ? 'nothing'
          : fault === 'storage' || fault === 'lost ack'
            ? 'storage error'
            : 'answer',
      ...(lease && { epoch: lease.epoch }),
      ...(method === 'append' && { expectedSeq: args[1] as number, kinds: (args[2] as NewEntry[]).map(kindOf) }),
      ...(method === 'append' && (args[3] as AppendOptions | undefined)?.completesCopy && { completes: true }),
      ...(method === 'post' && { posted: postedIn(args[1] as InboxItem) }),
      ...(method === 'release' && { interrupted: (args[1] as { interrupted?: boolean })?.interrupted === true }),
      ...(fault && { fault }),
    }
    this.journal.push(entry)
    if (fault === 'storage') return Promise.resolve()
    if (method === 'append') freeze(args[2])
    const perform = this.#store[method] as (...args: readonly unknown[]) => Promise<unknown>
    const answer = Reflect.apply(perform, this.#store, args) as Promise<unknown>
    answer.then(
      (value) => {
        entry.done = true
        if (method === 'append') entry.seq = value as number
        if (method === 'append') this.#see(args[2] as NewEntry[])
        if (method === 'claim' || method === 'createCopy') Object.assign(entry, { epoch: (value as Lease).epoch })
      },
      (error) => {
        entry.error = (error as ToolwrightError).code
        this.#world.note(`store: ${method} refused: ${entry.error}`)
      },
    )
    return answer
  }

  #see(entries: readonly NewEntry[]): void {
    for (const { event, record } of entries) {
      if (record?.type === 'request') this.seen.requests.push(record.id)
      for (const { functionCall } of event?.content?.parts ?? [])
        if (functionCall?.id) this.seen.calls.push(functionCall.id)
    }
  }
}

/** The ids that an inbox item answers. An item may have any shape. */
function postedIn(item: InboxItem): NonNullable<JournalEntry['posted']> {
  const parts = item.type === 'answer' ? item.content?.parts : undefined
  const answered = parts?.flatMap((part) => part?.functionResponse?.id ?? []) ?? []
  return { ids: item.type === 'result' ? [item.callId] : answered, mark: markIn(item) }
}

/** A copy of the log with a memo of the process, as over a real network. */
function ownLog(memos: Map<string, object>, { key }: Lease, log: HeldLog): HeldLog {
  const id = `${key.userId}/${key.sessionId}`
  const memo = memos.get(id) ?? {}
  memos.set(id, memo)
  return { ...log, entries: log.entries.slice(), memo }
}

function leaseIn([first]: readonly unknown[]): Lease | undefined {
  return typeof first === 'object' && first !== null && 'epoch' in first ? (first as Lease) : undefined
}

function sessionOf(args: readonly unknown[]): string {
  const { userId, sessionId } = leaseIn(args)?.key ?? (args[0] as { userId?: string; sessionId?: string })
  return `${userId}/${sessionId}`
}

/** Whether it is the session of a copy: `user/session`. */
export function isCopy(session: string): boolean {
  return /\/copy\d+$/.test(session)
}

function describe(args: readonly unknown[]): string {
  const entries = args[2]
  if (!Array.isArray(entries)) return ''
  return ` [${entries.map((entry: Entry) => kindOf(entry)).join(', ')}]`
}

/** The kind of an entry, for traces and coverage. */
export function kindOf({ event, record }: NewEntry): string {
  if (record) return record.type
  if (event.errorCode) return `error ${event.errorCode}`
  const part = event.content?.parts[0]
  if (event.author === 'user') return part?.functionResponse ? 'answer' : 'message'
  if (event.content?.role === 'tool')
    return event.content.parts.some(({ functionResponse }) => functionResponse?.willContinue) ? 'handle' : 'response'
  if (event.actions.requestedToolConfirmations || part?.functionCall?.name.startsWith('adk_request_')) return 'question'
  if (event.content?.role === 'user') return 'opening'
  if (part?.functionCall || part?.executableCode) return 'call'
  return event.content ? 'reply' : 'note'
}

/** Freezes stored entries, so that a later change throws. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const key of Object.keys(value)) freeze((value as Record<string, unknown>)[key])
}
