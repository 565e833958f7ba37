import { systemPorts } from '../../../core/base/ports.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import { withTimeout } from '../../../core/base/with-timeout.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { InMemorySessionService } from '../../../services/session/in-memory.ts'
import type { ChaosOptions } from './chaos-options.ts'
import type { Fact, Snapshot, WorkFact } from './facts.ts'
import type { Plan } from './plan.ts'

/** The app, user and session of every story. */
export const SESSION = { appName: 'chaos', userId: 'user', sessionId: 'session' } as const

/** How long bodies of dead processes may go on, in milliseconds, if the tool has no deadline. */
const BODY_MS = 30_000

/** What the processes of one story share: the store, the clock, and what was seen. */
export class Scene {
  /** The tool as the developer made it. */
  readonly tool: Tool
  /** What the developer gave. */
  readonly options: ChaosOptions
  /** The story. */
  readonly plan: Plan
  /** What has happened. */
  readonly facts: Fact[] = []
  /** The store. It outlives the processes. */
  readonly store: InMemorySessionService
  readonly #name: string
  readonly #underWay: Set<WorkFact> = new Set()
  readonly #bodies: Promise<unknown>[] = []
  #now = 1_700_000_000_000
  #ids = 0
  /** What `outside()` has thrown. The tool must not see it. */
  #failure: { readonly reason: unknown } | undefined

  constructor(name: string, plan: Plan, tool: Tool, options: ChaosOptions) {
    this.#name = name
    this.plan = plan
    this.tool = tool
    this.options = options
    this.store = new InMemorySessionService({ now: () => this.#now, newId: () => this.newId() })
  }

  /** Milliseconds. Time passes only when a process has died. */
  get now(): number {
    return this.#now
  }

  /** An id that follows from the seed. */
  newId(): string {
    return `${this.#name}-${++this.#ids}`
  }

  /** Lets the lease of a dead process end. */
  passTime(): void {
    this.#now += 60_000
  }

  /** What is outside now. */
  async look(): Promise<Snapshot> {
    try {
      return toJsonValue(await this.options.outside()).value
    } catch (reason) {
      this.#failure ??= { reason }
      return undefined
    }
  }

  /** Throws what `outside()` has thrown. */
  throwFailure(): void {
    if (this.#failure) throw this.#failure.reason
  }

  /** Does work of the tool, and sees what it changes. The work goes on if its process dies. */
  async watch<T>(type: WorkFact['type'], key: string, work: () => T | Promise<T>): Promise<T> {
    const before = await this.look()
    const fact: WorkFact = { type, key, before, hasEnded: false, isShared: this.#underWay.size > 0, hasThrown: false }
    for (const other of this.#underWay) other.isShared = true
    this.#underWay.add(fact)
    this.facts.push(fact)
    try {
      const value = await work()
      if (fact.type === 'reconcile') fact.said = statusOf(value)
      return value
    } catch (error) {
      fact.hasThrown = true
      throw error
    } finally {
      this.#underWay.delete(fact)
      fact.after = await this.look()
      fact.hasEnded = true
    }
  }

  /** Keeps a body that may outlive its process. */
  keep(body: Promise<unknown>): void {
    this.#bodies.push(body)
  }

  /** Waits until the bodies have ended, also those of dead processes. */
  async idle(): Promise<void> {
    const { timeoutMs = BODY_MS } = this.tool
    await withTimeout(Promise.allSettled(this.#bodies), Math.min(timeoutMs, BODY_MS), systemPorts, () => undefined)
  }
}

function statusOf(value: unknown): string | undefined {
  const status = typeof value === 'object' && value !== null && 'status' in value ? value.status : undefined
  return typeof status === 'string' ? status : undefined
}
