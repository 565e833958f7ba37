// The world tools act on. It keeps a book of what was done to it, and takes a key it knows for the same deed.
import type { JsonObject, ToolContext } from 'toolwright'
import type { LedgerEntry } from './evidence.ts'
import type { ToolSpec } from './plan.ts'

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
    const repeated = step === 'effect' && effect === 'idempotent' && this.hasHappened(key)
    this.ledger.push({
      tick: this.#tick(),
      step,
      process,
      session: `${context.invocation.userId}/${context.invocation.session.id}`,
      tool: name,
      effect,
      callId: context.functionCallId,
      key,
      args: structuredClone(args),
      ...(repeated && { repeated }),
      ...more,
    })
  }

  hasHappened(key: string): boolean {
    return this.ledger.some((entry) => entry.step === 'effect' && entry.key === key)
  }
}
