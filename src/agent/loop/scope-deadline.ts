// The deadline of an agent tool: when it passes, the agent's scope ends and the rest of the run continues.
import type { Deadline } from '../../base/deadlines.ts'
import { cancelWork } from '../../dispatch/cancel-work.ts'
import { closingEntries, startedWork } from '../../dispatch/close-scope.ts'
import type { UnrecordedResult, StopListener } from '../../dispatch/host.ts'
import { Timeout } from '../../dispatch/wait.ts'
import { StopListeners } from '../../dispatch/stop-listeners.ts'
import type { Event, NewEntry } from '../../event/event.ts'
import { isWithin } from '../../event/scope.ts'
import type { Agent } from '../agents/agent.ts'
import type { LlmAgent } from '../agents/llm-agent.ts'
import { next } from './next.ts'
import type { ScopeFrame, RunHost } from './run-host.ts'

type RunScope = (run: RunHost, agent: Agent, frame: ScopeFrame) => Promise<'done' | 'wait'>

/** Walks a scope, and ends it with a recorded `TIMEOUT` when that takes longer. Only time in this process counts. */
export async function runScopeWithDeadline(
  run: RunHost,
  agent: Agent,
  frame: ScopeFrame,
  limit: { readonly name: string; readonly timeoutMs: number },
  walk: RunScope,
): Promise<'done' | 'wait'> {
  const { name, timeoutMs } = limit
  const part = new StoppableScope(run, new Timeout(`${name} timed out after ${timeoutMs} ms`))
  run.onStop(part)
  if (!run.stopped) run.deadlines.set(timeoutMs, part)
  try {
    return await part.unlessStopped(walk(part.host, agent, frame))
  } catch (error) {
    if (run.stopped) throw run.stopped.reason
    if (error === part.timeout) await closeScope(run, part, agent, frame)
    else throw error
    return 'done'
  } finally {
    run.forget(part)
    run.deadlines.end(part)
  }
}

/** Every open call in the scope gets its final response, then the scope ends: in one append. */
async function closeScope(run: RunHost, part: StoppableScope, agent: Agent, scope: ScopeFrame): Promise<void> {
  await part.committed()
  const log = { fold: run.fold, tree: scope.tree, listed: (one: LlmAgent) => run.tableOf(one) }
  if (next(agent, log, scope.path).type === 'done') return // its last word was on its way to the log
  const unrecorded = part.unrecorded.flat()
  const started = startedWork(run.fold, unrecorded, (call) => run.toolOf(call)).filter(({ call }) =>
    isWithin(call.path, scope.path),
  )
  if (started.length) await cancelWork(run, started)
  const { message: reason } = part.timeout
  await run.commit(
    closingEntries(run, { author: agent.name, scope, reason, errorCode: 'TIMEOUT', unrecorded, started }),
  )
}

/** The part of a run inside one scope: it stops with the run, or alone when its time is up. */
class StoppableScope implements StopListener, Deadline {
  readonly #run: RunHost
  readonly #waiters: StopListeners = new StopListeners()
  readonly #commits: Set<Promise<void>> = new Set()
  #controller: AbortController | undefined
  #reject: ((reason: unknown) => void) | undefined
  readonly timeout: Timeout
  /** The run, as the scope sees it. */
  readonly host: RunHost
  stopped: { readonly reason: unknown } | undefined
  unrecorded: (readonly (UnrecordedResult | undefined)[])[] = []
  at: number = Number.POSITIVE_INFINITY
  isOver = true

  constructor(run: RunHost, timeout: Timeout) {
    this.#run = run
    this.timeout = timeout
    this.host = new Proxy(run, {
      get: (_, key) => {
        const owner = Object.hasOwn(OWN, key) ? this : run
        const value: unknown = Reflect.get(owner, key)
        return typeof value === 'function' ? value.bind(owner) : value
      },
      set: (_, key, value) => Reflect.set(run, key, value),
    })
  }
  pass(): void {
    this.stop(this.timeout)
  }
  stop(reason: unknown): void {
    if (this.stopped) return
    this.stopped = { reason }
    this.#controller?.abort(reason)
    this.#waiters.stop(reason)
    this.#reject?.(reason)
  }
  /** What the work gives; a stop gets through whatever hangs inside. */
  unlessStopped<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      if (this.stopped) reject(this.stopped.reason)
      work.then(resolve, reject)
    })
  }
  /** Settles when nothing of this part is on its way to the log. */
  async committed(): Promise<void> {
    while (this.#commits.size) await Promise.allSettled(this.#commits)
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.stopped && !this.#controller.signal.aborted) this.#controller.abort(this.stopped.reason)
    return this.#controller.signal
  }
  onStop(waiter: StopListener): void {
    if (this.stopped) waiter.stop(this.stopped.reason)
    else this.#waiters.add(waiter)
  }
  forget(waiter: StopListener): void {
    this.#waiters.forget(waiter)
  }
  commit(entries: readonly NewEntry[]): Promise<void> {
    if (this.stopped) return Promise.reject(this.stopped.reason)
    const commit = this.#run.commit(entries).finally(() => this.#commits.delete(commit))
    this.#commits.add(commit)
    // an intent that was on its way when the part was stopped starts no body
    return commit.then(() => {
      if (this.stopped) throw this.stopped.reason
    })
  }
  emit(event: Event): Promise<void> | undefined {
    return this.stopped ? undefined : this.#run.emit(event)
  }
  keepUnrecorded(outcomes: readonly (UnrecordedResult | undefined)[]): () => void {
    const recorded = this.#run.keepUnrecorded(outcomes)
    this.unrecorded.push(outcomes)
    return () => {
      recorded()
      this.unrecorded = this.unrecorded.filter((one) => one !== outcomes)
    }
  }
}

/** The members of the run that are the part's own. */
const OWN = {
  stopped: true,
  signal: true,
  onStop: true,
  forget: true,
  commit: true,
  emit: true,
  keepUnrecorded: true,
} satisfies { [member in keyof RunHost]?: true }
