// Work on a session that this process holds, outside the run that a caller asked for.
import { messageOf } from '../../../core/error/error.ts'
import type { Event } from '../../../core/event/event.ts'
import type { Lease, PostedItem } from '../../../services/session/service.ts'
import type { RunContext } from '../../context/run-context.ts'
import { tellAgainAt } from '../../dispatch/run-in-background.ts'
import { isInterrupted } from '../approvals/pending-requests.ts'
import { postedResults, settleInbox } from '../inbox/settle-inbox.ts'
import type { RunServices } from '../run-services.ts'
import type { HeldSession } from '../session/held-session.ts'
import { planStart, type StartPlan } from './plan-start.ts'
import { type Tick, TickLost, TickRecorded } from './recorded-tick.ts'
import type { RunFactory } from './run-factory.ts'
import type { RunRequest } from './run-request.ts'
import { SetAside, setAside, throwIfCrashing } from './set-aside.ts'

/** Applies what other processes have posted: state edits and cancels. Returns the events of cancelled invocations. */
export async function applyInbox(
  factory: RunFactory,
  held: HeldSession,
  items: readonly PostedItem[],
  runContext?: RunContext,
): Promise<readonly Event[]> {
  const { ports, logger } = factory.services
  return await settleInbox(held, items, {
    ports,
    logger,
    cancelAll: (ids, drained) => cancelAll(factory, held, ids, { runContext, drained }),
  })
}

/** Denies the requests that have expired, and records which background calls gave no result in time. */
export async function settleOverdue(factory: RunFactory, held: HeldSession): Promise<void> {
  const { services, tree } = factory
  const posted = await postedResults(held)
  const isAlive = (id: string): boolean => posted.has(id) || services.background?.isRunning(held.key, id) || false
  for (;;) {
    const now = services.ports.now() / 1000
    const options = { tree, whilePaused: undefined, now, isAlive, tellAgainAt: () => nextTell(services) }
    const plan = planStart(held.view, { invocationId: '' }, options)
    if (plan.type !== 'expire first' && plan.type !== 'interrupt first' && plan.type !== 'tell first') return
    await recordOverdue(factory, held, plan)
  }
}

/** When an engine that is asked about a background call now is asked again, in seconds since the epoch. Undefined: there is none. */
export function nextTell(services: RunServices): number | undefined {
  return services.background?.tell && tellAgainAt(services)
}

/** Records what a plan has found to be over, and tells the engine about the background calls that it must start again. */
export async function recordOverdue(
  factory: RunFactory,
  held: HeldSession,
  plan: StartPlan & { readonly type: 'expire first' | 'interrupt first' | 'tell first' },
): Promise<void> {
  const run = factory.create(held, plan.invocationId)
  if (plan.type === 'expire first') return await run.expire(plan.denials)
  if (plan.type === 'interrupt first') return await run.expire(plan.lost)
  await run.expire(plan.told) // first: the next time must not come at once if the engine is away
  for (const { calls } of plan.told) for (const { id } of calls) void factory.services.background?.tell?.(held.key, id)
}

/** Cancels these invocations; returns the events that record it. */
export async function cancelAll(
  factory: RunFactory,
  held: HeldSession,
  invocationIds: readonly string[],
  { runContext, drained }: { readonly runContext?: RunContext | undefined; readonly drained?: readonly string[] } = {},
): Promise<Event[]> {
  const events: Event[] = []
  for (const invocationId of invocationIds) {
    const closing = factory.create(held, invocationId, { runContext })
    await closing.closeAsCancelled('The run was cancelled.', { drained })
    events.push(...closing.events.takeAll())
  }
  return events
}

/**
 * Throws `SetAside` if too many processes have died with the session, `TickRecorded` if its log has the message of the tick, and `TickLost`
 * if the worker has lost its claim. While the session is held, no other worker can start the run of the tick.
 */
export async function checkStart(
  held: HeldSession,
  { unattended, tick }: Pick<RunRequest, 'unattended' | 'tick'>,
  services: Pick<RunServices, 'sessionService' | 'scheduleService'>,
): Promise<void> {
  if (unattended) throwIfCrashing(held, unattended)
  if (tick) await checkTickIsNew(held, tick, services)
}

async function checkTickIsNew(
  held: HeldSession,
  { claim, eventId, isRetried, mustExist }: Tick,
  { sessionService, scheduleService }: Pick<RunServices, 'sessionService' | 'scheduleService'>,
): Promise<void> {
  if ((await scheduleService.getSchedule(claim))?.revision !== claim.revision) {
    // the claim of the session has created it, such as for a user who was deleted meanwhile
    if (!mustExist && held.view.seq === 0) await sessionService.deleteSession(held.key)
    throw new TickLost('The schedule was deleted or changed, or another worker has claimed its tick.')
  }
  if (!isRetried) return
  const session = await sessionService.getSession(held.key)
  if (session?.events.some(({ id }) => id === eventId))
    throw new TickRecorded('The run of the tick was started before.')
}

/** Opens a session whose lease the caller has claimed, then releases the lease. */
export async function withHeld<T>(
  factory: RunFactory,
  lease: Lease,
  work: (held: HeldSession) => Promise<T>,
): Promise<T> {
  let held: HeldSession | undefined
  try {
    held = await factory.open(lease, factory.services.ports.monotonicNow())
    return await work(held)
  } finally {
    await releaseUnused(factory, lease, held)
  }
}

/** Ends open invocations of a session whose lease the caller has claimed, then releases it. */
export async function cancelHeld(
  factory: RunFactory,
  lease: Lease,
  {
    invocationId,
    runContext,
  }: { readonly invocationId: string | undefined; readonly runContext: RunContext | undefined },
): Promise<void> {
  await withHeld(factory, lease, async (held) => {
    const open = held.view.open().map(({ fold }) => fold.invocationId)
    const named = open.filter((id) => invocationId === undefined || id === invocationId)
    await cancelAll(factory, held, named, { runContext })
  })
}

/** Applies the inbox of a session whose lease the caller has claimed, then releases it. */
export async function settleClaimed(factory: RunFactory, lease: Lease): Promise<void> {
  await withHeld(factory, lease, async (held) => {
    const items = await held.inbox()
    if (items.length) await applyInbox(factory, held, items)
    await settleOverdue(factory, held)
  })
}

/**
 * Ends the open invocations of a copied log. What their long-running calls have started is the original's to cancel. Returns the
 * last sequence number.
 */
export async function closeCopied(factory: RunFactory, lease: Lease, reason: string): Promise<number> {
  const held = await factory.open(lease, factory.services.ports.monotonicNow())
  const { view } = held
  for (const { fold } of view.open()) {
    await factory.create(held, fold.invocationId).closeAsCancelled(reason, { keepsStartedWork: true })
  }
  held.leave()
  return view.seq
}

/**
 * Releases a lease without a run. Refused answers leave the inbox; an interrupted invocation stays interrupted. `held` is
 * undefined if the log could not be read.
 */
export async function releaseUnused(
  { services }: RunFactory,
  lease: Lease,
  held: HeldSession | undefined,
  drained?: readonly string[],
): Promise<void> {
  const { sessionService, logger } = services
  if (held && drained) await held.append([], drained).catch((error) => logger.warn(messageOf(error), error))
  held?.leave()
  await sessionService.release(lease, { interrupted: held === undefined || isInterrupted(held.view) })
}

/** Releases a lease after a start that failed. A session that kills its processes is set aside. */
export async function releaseAfter(
  error: unknown,
  factory: RunFactory,
  lease: Lease,
  { held, drained }: { readonly held: HeldSession | undefined; readonly drained: readonly string[] | undefined },
): Promise<void> {
  if (error instanceof SetAside) await setAside(factory, lease, held, error)
  else await releaseUnused(factory, lease, held, drained)
}
