// What stories of processes that stop and come back share: stores whose clock is in hand, and a process that is left behind.
import type { SessionService, Tool } from 'toolwright'
import type { Step } from 'toolwright/testing'
import { stores } from '../stores.ts'
import { process, say, where } from './approvals-kit.ts'
import { HandTimers, signalled } from './kit.ts'

/** How long a lease lasts. */
export const LEASE_MS = 15_000
/** How often a lease is renewed. */
export const RENEW_MS = 5_000

export interface Clock {
  time: number
}

/** Every store, with a clock in hand. */
export const clockedStores: [string, (clock: Clock, leaseMs?: number) => SessionService][] = stores.map(
  ({ name, open }) => [name, (clock, leaseMs) => open({ now: () => clock.time, leaseMs }).sessionService],
)

export interface Left {
  /** The completion of the run. */
  readonly said: Promise<unknown>
  readonly timers: HandTimers
  /** The signal of the body that is still running. */
  readonly signal: AbortSignal
  readonly key: string
  /** Lets the body return. */
  readonly finish: (value: unknown) => void
}

/** Starts a process that hangs in a body and does not renew its lease; its call stays open. */
export async function leftHanging(
  store: SessionService,
  make: (run: Tool['run']) => Tool,
  steps: Step[],
): Promise<Left> {
  const began = signalled<{ signal: AbortSignal; key: string }>()
  const result = signalled<unknown>()
  const work = make((_args, { signal, idempotencyKey: key }) => {
    began.resolve({ signal, key })
    return result.promise
  })
  const timers = new HandTimers()
  const said = say(process(store, { tools: [work], steps, runner: { ports: timers.ports } }).runner)
  said.catch(() => {}) // awaited later
  return { ...(await began.promise), said, timers, finish: result.resolve }
}

export async function resumed(runner: ReturnType<typeof process>['runner']): Promise<string> {
  let text = ''
  for await (const { content } of runner.resume(where)) text = content?.parts[0]?.text ?? text
  return text
}
