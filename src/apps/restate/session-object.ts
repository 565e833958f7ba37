// The object of a session in Restate: one worker at a time continues it, and another one if that dies.
import type { ObjectContext, ObjectSharedContext, RetryPolicy, VirtualObjectDefinition } from '@restatedev/restate-sdk'
import type { JsonObject } from '../../core/base/json.ts'
import type { Message } from '../../core/content/content.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { SessionOfApp } from '../../engine/runner/work/work-item.ts'
import type { FleetApp } from './fleet-app.ts'
import { sessionOfKey, sessionServiceOf } from './names.ts'
import type { CallTarget, OpenedCall } from './sealed-call.ts'
import { jsonOf, sendLater } from './send-later.ts'
import { forCaller, type RestateSdk } from './terminal-errors.ts'

/** What a call of `run`, `answer` or `resume` returns once nothing is left to do in the session. */
export interface SessionOutcome {
  /** The session. */
  readonly sessionId: string
  /** The ids of its pending requests. */
  readonly pending: readonly string[]
}

/** A turn may take this long. A worker that is lost is noticed earlier, by its connection. */
export const MAX_TURN_MS: number = 24 * 3_600_000

/** A call that waits for the turn of its session leaves its worker after this time, and comes back when the turn is over. */
const SUSPEND_MS = 1_000

/** A session that several workers in a row have died with is tried again after this time at the latest. */
const MAX_RETRY_MS = 10_000

/** The service with the sessions of an app. */
export function sessionObject(sdk: RestateSdk, app: FleetApp): VirtualObjectDefinition<string, unknown> {
  const { runner } = app
  const service = sessionServiceOf(runner.appName)
  const targetOf = (key: string, handler: string): CallTarget => ({ service, key, handler })
  const open = (key: string, handler: string, call: unknown): Promise<Opened> =>
    forCaller(sdk, () => {
      const session = sessionOfKey(key)
      if (!session) throw new ToolwrightError('INVALID_REQUEST', 'The key of the object names no session.')
      return { session, ...app.open(targetOf(key, handler), call) }
    })

  const wake = async (ctx: ObjectContext, call: unknown): Promise<void> => {
    const { session, input } = await open(ctx.key, 'wake', call)
    const scheduleId = typeof input.scheduleId === 'string' ? input.scheduleId : undefined
    const signal = ctx.request().attemptCompletedSignal
    // a repeated attempt must send what the first one has sent: the result is stored
    const next = await ctx.run('continue', () => app.wake(session, targetOf(ctx.key, 'wake'), { scheduleId, signal }))
    if (next) sendLater(sdk, ctx, next)
  }

  /** Does something for a caller, then waits until nothing is left to do in the session. */
  const thenWake =
    (handler: string, work: (opened: Opened) => Promise<unknown>) =>
    async (ctx: ObjectSharedContext, call: unknown): Promise<SessionOutcome> => {
      const opened = await open(ctx.key, handler, call)
      const next = await ctx.run(handler, () =>
        forCaller(sdk, async () => {
          await work(opened)
          return app.later(targetOf(ctx.key, 'wake'), {})
        }),
      )
      await ctx.genericCall<unknown, void>({
        service,
        method: 'wake',
        key: ctx.key,
        parameter: next.call,
        inputSerde: jsonOf(sdk),
        outputSerde: jsonOf(sdk),
      })
      // the last step: nothing that another attempt must repeat depends on it, so that Restate need not store it
      const pending = await runner.pending(opened.session)
      return { sessionId: opened.session.sessionId, pending: pending.map(({ id }) => id) }
    }

  const run = thenWake('run', ({ session, input, id }) =>
    runner.internals.submit({
      ...session,
      message: input.message as Message, // submit() checks it
      ...(input.stateDelta !== undefined && { stateDelta: input.stateDelta as JsonObject }),
      id: typeof input.id === 'string' ? input.id : id,
    }),
  )
  const answer = thenWake('answer', ({ session, input }) =>
    runner.internals.answer({ ...session, message: input.message as Message }),
  )
  const resume = thenWake('resume', ({ session }) => runner.internals.retry(session))
  const cancel = async (ctx: ObjectSharedContext, call: unknown): Promise<void> => {
    const { session, input } = await open(ctx.key, 'cancel', call)
    const invocationId = typeof input.invocationId === 'string' ? input.invocationId : undefined
    await ctx.run('cancel', () => forCaller(sdk, () => runner.cancel({ ...session, invocationId })))
  }

  const { exclusive, shared } = sdk.handlers.object
  return sdk.object({
    name: service,
    handlers: {
      wake: exclusive(wake),
      // beside a run that is under way
      run: shared({ inactivityTimeout: SUSPEND_MS }, run),
      answer: shared({ inactivityTimeout: SUSPEND_MS }, answer),
      resume: shared({ inactivityTimeout: SUSPEND_MS }, resume),
      cancel: shared(cancel),
    },
    options: {
      inactivityTimeout: MAX_TURN_MS,
      journalRetention: 0,
      retryPolicy,
    },
  }) as VirtualObjectDefinition<string, unknown>
}

/** What fails is tried again, for ever. */
export const retryPolicy: RetryPolicy = {
  initialInterval: 100,
  maxInterval: MAX_RETRY_MS,
  exponentiationFactor: 2,
  maxAttempts: 1_000_000,
}

/** A call whose signature is valid. */
interface Opened extends OpenedCall {
  readonly session: SessionOfApp
}
