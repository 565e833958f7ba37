// The outside world that tools act on. It records every effect and ignores a repeated idempotency key.
import type { JsonObject, ToolContext } from 'toolwright'
import type { LedgerEntry } from './evidence.ts'
import type { ToolSpec } from './plan.ts'

/** The ledger of the outside world. */
export class Outside {
  readonly ledger: LedgerEntry[] = []
  readonly #tick: () => number

  constructor(tick: () => number) {
    this.#tick = tick
  }

  write(
    step: LedgerEntry['step'],
    process: string,
    { name, effect }: ToolSpec,
    context: ToolContext,
    args: JsonObject,
    more: Pick<LedgerEntry, 'writes' | 'confirmed' | 'found' | 'handle'> = {},
  ): void {
    const key = context.idempotencyKey
    const session = sessionOf(context)
    const repeated = step === 'effect' && effect === 'idempotent' && this.hasHappened(context)
    this.ledger.push({
      tick: this.#tick(),
      step,
      process,
      session,
      tool: name,
      effect,
      callId: context.functionCallId,
      key,
      args: structuredClone(args),
      ...(repeated && { repeated }),
      ...more,
    })
  }

  /** Whether the call has taken effect. Rows that were copied to another session have the same keys. */
  hasHappened(context: ToolContext): boolean {
    const session = sessionOf(context)
    return this.ledger.some(
      (entry) => entry.step === 'effect' && entry.key === context.idempotencyKey && entry.session === session,
    )
  }
}

function sessionOf({ invocation }: ToolContext): string {
  return `${invocation.userId}/${invocation.session.id}`
}
