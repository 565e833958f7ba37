// Stores that keep checkpoints, around the store in memory.

import type { Entry } from '../../../core/event/event.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { Checkpoint, HeldLog, Lease, SessionKey, SessionService } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { SessionView } from '../../agent/loop/session-view.ts'
import { toCheckpoint } from '../../agent/loop/view-checkpoint.ts'

/** Changes a checkpoint before the runner gets it. */
export type Damage = (checkpoint: Checkpoint) => Partial<Checkpoint>

/** What a store has read for runs. */
export interface Reads {
  /** The entries that runs got, each time. */
  entries: number
}

/** A service with other methods in the place of some. Methods of the store in memory need the store as `this`. */
export function withMethods(inner: SessionService, methods: Partial<SessionService>): SessionService {
  return new Proxy(inner, {
    get: (target, name) => {
      if (name in methods) return Reflect.get(methods, name)
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
    set: (_, name, value) => Reflect.set(methods, name, value), // a test replaces a method
  })
}

/** The log as a database returns it: a checkpoint after entry `seq`, and copies of the entries that are asked for. */
function readFrom(
  log: HeldLog,
  seq: number,
  state: Checkpoint['state'],
  reads: Reads,
): HeldLog & { checkpoint: Checkpoint } {
  const copy = (entries: readonly Entry[]): Entry[] => {
    reads.entries += entries.length
    return structuredClone([...entries])
  }
  const entriesBefore: Checkpoint['entriesBefore'] = async ({ fromSeq = 0 } = {}) =>
    copy(log.entries.slice(fromSeq, seq))
  return { entries: copy(log.entries.slice(seq)), state: log.state, checkpoint: { seq, state, entriesBefore } }
}

/** A store that hands over a checkpoint after any entry of the log. */
export interface CutStore {
  readonly sessionService: SessionService
  readonly reads: Reads
  /** The checkpoints are after this entry. Undefined: there are none. */
  cut: number | undefined
  damage: Damage
}

/** A store that computes the checkpoints of these agents by itself. */
export function cutStore(tree: AgentTree): CutStore {
  const inner = new InMemorySessionService()
  const reads: Reads = { entries: 0 }
  const read = async (lease: Lease): Promise<HeldLog> => {
    const log = await inner.read(lease)
    const { cut } = store
    if (cut === undefined || cut === 0 || cut > log.entries.length) {
      reads.entries += log.entries.length
      return { entries: [...log.entries], state: log.state }
    }
    const view = new SessionView(tree)
    view.catchUp(log.entries.slice(0, cut))
    const opened = readFrom(log, cut, JSON.parse(JSON.stringify(toCheckpoint(view, tree))), reads)
    return { ...opened, checkpoint: { ...opened.checkpoint, ...store.damage(opened.checkpoint) } }
  }
  const store: CutStore = { sessionService: withMethods(inner, { read }), reads, cut: undefined, damage: () => ({}) }
  return store
}

/** A checkpoint that a run has stored. */
export interface StoredCheckpoint {
  readonly key: SessionKey
  readonly seq: number
  text: string
}

/** A store that keeps the checkpoints that the runner makes. */
export interface KeepingStore {
  readonly sessionService: SessionService
  readonly reads: Reads
  /** All checkpoints that were stored, in order. */
  readonly stored: StoredCheckpoint[]
}

/** A store that keeps the checkpoints that the runner makes. */
export function keepingStore(inner: SessionService = new InMemorySessionService()): KeepingStore {
  const reads: Reads = { entries: 0 }
  const stored: StoredCheckpoint[] = []
  const isOf = (one: SessionKey, { appName, userId, sessionId }: SessionKey): boolean =>
    one.appName === appName && one.userId === userId && one.sessionId === sessionId
  const sessionService = withMethods(inner, {
    keepsCheckpoints: true,
    read: async (lease) => {
      const { seq, text } = stored.findLast(({ key }) => isOf(key, lease.key)) ?? { seq: 0, text: '' }
      const { checkpoint, ...log } = readFrom(await inner.read(lease), seq, text && JSON.parse(text), reads)
      return seq ? { ...log, checkpoint } : log
    },
    append: async (lease, expectedSeq, entries, options) => {
      const last = await inner.append(lease, expectedSeq, entries, options)
      const { checkpoint } = options ?? {}
      if (checkpoint) stored.push({ key: lease.key, seq: expectedSeq, text: JSON.stringify(checkpoint) })
      return last
    },
    deleteSession: async (key) => {
      await inner.deleteSession(key)
      stored.splice(0, stored.length, ...stored.filter((one) => !isOf(one.key, key)))
    },
  })
  return { sessionService, reads, stored }
}

/** All entries of a session. */
export async function entriesOf(service: SessionService, key: SessionKey): Promise<readonly Entry[]> {
  return (await service.readLog?.(key))?.entries ?? []
}
