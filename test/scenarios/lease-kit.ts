// Shared by scenarios of processes that stall and return: stores with a settable clock, and a process that hangs in a body.
import type { SessionService, Tool } from 'toolwright'
import type { ScriptedStep } from 'toolwright/testing'
import { stores } from '../stores.ts'
import { sendMessage, startProcess, where } from './approvals-kit.ts'
import { createDeferred, ManualTimers } from './kit.ts'

/** How long a lease lasts. */
export const LEASE_MS = 15_000
/** How often a lease is renewed. */
export const RENEW_MS = 5_000

export interface Clock {
  time: number
}

/** Every store, with a settable clock. */
export const clockedStores: [string, (clock: Clock, leaseMs?: number) => SessionService][] = stores.map(
  ({ name, open }) => [name, (clock, leaseMs) => open({ now: () => clock.time, leaseMs }).sessionService],
)

export interface HangingProcess {
  /** The completion of the run. */
  readonly completion: Promise<unknown>
  readonly timers: ManualTimers
  /** The signal of the body that is still running. */
  readonly signal: AbortSignal
  readonly key: string
  /** Lets the body return. */
  readonly finish: (value: unknown) => void
}

/** Starts a process that hangs in a body and does not renew its lease; its call stays open. */
export async function hangInBody(
  store: SessionService,
  make: (run: Tool['run']) => Tool,
  steps: ScriptedStep[],
): Promise<HangingProcess> {
  const began = createDeferred<{ signal: AbortSignal; key: string }>()
  const result = createDeferred<unknown>()
  const work = make((_args, { signal, idempotencyKey: key }) => {
    began.resolve({ signal, key })
    return result.promise
  })
  const timers = new ManualTimers()
  const completion = sendMessage(startProcess(store, { tools: [work], steps, runner: { ports: timers.ports } }).runner)
  completion.catch(() => {}) // awaited later
  return { ...(await began.promise), completion, timers, finish: result.resolve }
}

export async function resumeSession(runner: ReturnType<typeof startProcess>['runner']): Promise<string> {
  let text = ''
  for await (const { content } of runner.resume(where)) text = content?.parts[0]?.text ?? text
  return text
}
