import type { Observer } from '../../../engine/observe/observer.ts'
import type { Operation, OperationEnd, OperationNote } from '../../../engine/observe/operation.ts'
import type { SessionOfApp } from '../../../engine/runner/work/work-item.ts'
import { BoundedRecords, type RecordLimits } from './bounded-records.ts'
import { copyReply, copyRequest } from './copy-request.ts'

/** What is kept, unless the constructor gets other limits. */
const LIMITS: RecordLimits = { count: 1_000, characters: 50_000_000 }

/**
 * The latest model calls of an app: what each model got and what it replied. Kept in memory only, as copies: the log has neither
 * instructions nor tools.
 */
export class ModelCalls implements Observer {
  /** As JSON: a copy that nothing changes. */
  readonly #records: BoundedRecords<string>
  /** The latest reply of each agent, and of all, in each run. */
  readonly #latest: BoundedRecords<string>
  /** Calls whose reply is not recorded yet. */
  readonly #open: WeakMap<Operation, object> = new WeakMap()

  constructor(limits: RecordLimits = LIMITS) {
    this.#records = new BoundedRecords(limits)
    this.#latest = new BoundedRecords(limits)
  }

  /** Copies the request of a model call, and its reply. */
  async around(operation: Operation, next: () => Promise<OperationEnd>): Promise<void> {
    if (operation.type !== 'model' || !operation.request) return void (await next())
    const { agent, model, provider, stream } = operation
    const startedAt = Date.now()
    const start = performance.now()
    const request = copyRequest(operation.request)
    const { outcome, errorCode, response, firstDeltaMs } = await next()
    this.#open.set(operation, {
      from: 'recorded',
      agent,
      model,
      provider,
      stream,
      startedAt,
      totalMs: Math.max(performance.now() - start, firstDeltaMs ?? 0),
      firstDeltaMs,
      outcome,
      errorCode,
      request,
      reply: response && copyReply(response),
    })
  }

  /** Keeps a model call under the event of its reply. */
  note(operation: Operation, note: OperationNote): void {
    const call = note.type === 'recorded' ? this.#open.get(operation) : undefined
    if (note.type !== 'recorded' || !call) return
    this.#open.delete(operation)
    const { run, agent } = operation
    const { invocationId } = run
    const [own, any] = [keyOf(run, `${invocationId} ${agent}`), keyOf(run, invocationId)]
    const previousId = this.#latest.get(own) ?? this.#latest.get(any)
    for (const key of [own, any]) this.#latest.set(key, note.eventId, 0)
    const text = JSON.stringify({ ...call, previousId })
    this.#records.set(keyOf(run, note.eventId), text, text.length)
  }

  /** The call of a reply, as JSON. Undefined if it is not kept. */
  find(session: SessionOfApp, eventId: string): string | undefined {
    return this.#records.get(keyOf(session, eventId))
  }
}

/** The key of something in a session. */
export function keyOf({ userId, sessionId }: SessionOfApp, id: string): string {
  return JSON.stringify([userId, sessionId, id])
}
