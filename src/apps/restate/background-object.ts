// The object of a background call in Restate: one worker at a time runs its body, and another one if that dies.
import type { ObjectContext, VirtualObjectDefinition } from '@restatedev/restate-sdk'
import { ToolwrightError } from '../../core/error/error.ts'
import type { FleetApp } from './fleet-app.ts'
import { backgroundServiceOf, callOfKey } from './names.ts'
import { sendLater } from './send-later.ts'
import { MAX_TURN_MS, retryPolicy } from './session-object.ts'
import { forCaller, type RestateSdk } from './terminal-errors.ts'

/** The service with the background calls of an app. */
export function backgroundObject(sdk: RestateSdk, app: FleetApp): VirtualObjectDefinition<string, unknown> {
  const service = backgroundServiceOf(app.runner.appName)

  const run = async (ctx: ObjectContext, sealed: unknown): Promise<void> => {
    const target = { service, key: ctx.key, handler: 'run' }
    const { call, isHandedOver } = await forCaller(sdk, () => {
      const call = callOfKey(ctx.key)
      if (!call) throw new ToolwrightError('INVALID_REQUEST', 'The key of the object names no call.')
      return { call, isHandedOver: app.open(target, sealed).input.isHandedOver === true }
    })
    const signal = ctx.request().attemptCompletedSignal
    // whether the body has begun is in the log: a repeated attempt of this step decides by the effect of the tool
    const next = await ctx.run('body', () => app.runBody(call, target, { isHandedOver, signal }))
    if (next) sendLater(sdk, ctx, next)
  }

  return sdk.object({
    name: service,
    handlers: { run: sdk.handlers.object.exclusive(run) },
    options: { inactivityTimeout: MAX_TURN_MS, journalRetention: 0, retryPolicy },
  }) as VirtualObjectDefinition<string, unknown>
}
