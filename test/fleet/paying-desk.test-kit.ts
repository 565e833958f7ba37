// An agent that charges a customer once it is approved, for tests with workers in this process.
import { LlmAgent, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'

/** The agent, and what it has done. */
export interface PayingDesk {
  readonly agent: LlmAgent
  /** The sessions whose customers were charged, in order. */
  readonly charged: readonly string[]
}

/** What a desk differs in. */
export interface PayingDeskOptions {
  /** Whether a charge waits for an approval. Default true. */
  readonly isGated?: boolean
  /** What a charge may do twice. Default: nothing. */
  readonly effect?: 'atMostOnce' | 'idempotent'
  /** How long an approver has, in milliseconds. */
  readonly expiresInMs?: number
  /** When a charge has taken effect, it waits for this. */
  readonly gate?: Promise<unknown>
}

/** Builds the agent. */
export function payingDesk({
  isGated = true,
  effect = 'atMostOnce',
  expiresInMs,
  gate,
}: PayingDeskOptions = {}): PayingDesk {
  const charged: string[] = []
  const charge = tool({
    name: 'charge',
    description: 'Charges a customer',
    effect,
    requiresConfirmation: isGated,
    expiresInMs,
    run: async (_, { invocation }) => {
      charged.push(invocation.session.id)
      await gate
      return { paid: true }
    },
  })
  const model = scriptedModel(({ contents }) =>
    contents.at(-1)?.parts[0]?.functionResponse ? 'Done.' : { calls: [{ name: 'charge', args: {} }] },
  )
  return { agent: new LlmAgent({ name: 'desk', model, tools: [charge] }), charged }
}
