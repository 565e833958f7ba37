// One of several processes that append to one session at the same time.
import { setTimeout } from 'node:timers/promises'
import { createEvent, type SessionKey, type SessionService, ToolwrightError } from 'toolwright'
import type { Lease } from 'toolwright/store'
import { openStore } from '../open-store.ts'

/** What a process appends. */
export interface AppendOptions {
  readonly app: string
  readonly store: string
  /** Distinguishes the events of the processes. */
  readonly name: string
  /** How many processes append. Each waits for the others after its first event. */
  readonly processes: number
  /** How many events each appends. */
  readonly count: number
}

/** Appends events one by one. Releases the lease after each, and after several, in turns. */
export async function appendMany({ app: appName, store, name, processes, count }: AppendOptions): Promise<void> {
  const { sessionService } = openStore(store)
  const key = { appName, userId: 'ada', sessionId: 's1' }
  await sessionService.createSession(key).catch(ignoreIf('ALREADY_EXISTS'))
  let held: { readonly lease: Lease; seq: number } | undefined
  for (let n = 0, left = 1; n < count; n++) {
    if (!held) {
      const lease = await claim(sessionService, key)
      held = { lease, seq: lease.seq }
      left = n % 2 === 0 ? 1 : 9
    }
    const event = createEvent({ id: `${name} ${n}`, invocationId: `e-${name}`, author: 'desk' })
    held.seq = await sessionService.append(held.lease, held.seq, [{ event }])
    if (--left > 0 && n < count - 1) continue
    await sessionService.release(held.lease)
    held = undefined
    if (n === 0) await waitForOthers(sessionService, key, processes)
    else await setTimeout(1) // lets the others claim it
  }
}

/** Every process has appended its first event, so that all of them compete. */
async function waitForOthers(sessionService: SessionService, key: SessionKey, processes: number): Promise<void> {
  while (((await sessionService.getSession(key))?.events.length ?? 0) < processes) await setTimeout(2)
}

/** Claims the lease as soon as no other process holds it. */
async function claim(sessionService: SessionService, key: SessionKey): Promise<Lease> {
  for (;;) {
    const lease = await sessionService.claim(key).catch(ignoreIf('SESSION_BUSY'))
    if (lease) return lease
    await setTimeout(Math.random() * 3)
  }
}

function ignoreIf(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof ToolwrightError && error.code === code)) throw error
    return undefined
  }
}
