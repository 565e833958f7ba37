// Conversations in many sessions at the same time, on a store in trouble: a caller that gets an error tries again.
import { setTimeout as delay } from 'node:timers/promises'
import { ToolwrightError } from 'toolwright'
import type { LedgerClient } from '../ledger/ledger-client.ts'
import { openStore } from '../open-store.ts'
import { answerPending, converse, read, sayGoodbye } from './caller.ts'
import { type Desk, type DeskOptions, openDesk } from './desk.ts'
import { Killer } from './killer.ts'
import { PAY } from './models.ts'

/** Longer than the processes of kills have: here, a busy machine must not look like a dead one. */
const LEASE_MS = 3_000

/** How long a caller waits before it tries again. */
const PAUSE_MS = 100

/**
 * Has conversations in all sessions, with one pool of connections. Without conversations, it completes what is left and sends one more
 * message. Fails at an error that is not a `ToolwrightError`.
 */
export async function persist(
  desks: readonly DeskOptions[],
  ledger: LedgerClient,
  conversations: number,
): Promise<void> {
  const killer = new Killer({ type: 'never' })
  const services = openStore(desks[0]?.store ?? '', { leaseMs: LEASE_MS })
  await Promise.all(
    desks.map(async (options) => {
      const desk = openDesk(options, { ledger, killer, services })
      for (let done = 0; done < conversations; done++) await until(desk, () => converse(desk, PAY))
      if (conversations === 0) await until(desk, () => sayGoodbye(desk))
      await desk.runner.close()
    }),
  )
}

/** Does something after what is left of earlier attempts, until it succeeds. */
async function until(desk: Desk, attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      for (const run of await desk.runner.recover()) await read(desk, run)
      await answerPending(desk)
      return await attempt()
    } catch (error) {
      if (!(error instanceof ToolwrightError)) throw error
      await desk.note({ type: 'failed', code: error.code, message: error.message })
      await delay(PAUSE_MS)
    }
  }
}
