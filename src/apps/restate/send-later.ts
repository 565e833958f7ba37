import type { Context, Serde } from '@restatedev/restate-sdk'
import type { LaterCall } from './fleet-app.ts'
import type { SealedCall } from './sealed-call.ts'
import type { RestateSdk } from './terminal-errors.ts'

/** How values are sent. */
export function jsonOf<T>({ serde }: RestateSdk): Serde<T> {
  return serde.json as Serde<T> // its type lacks only `undefined` for an optional member
}

/** Has Restate store a call for later. */
export function sendLater(sdk: RestateSdk, ctx: Context, { target, call, delayMs, once }: LaterCall): void {
  ctx.genericSend<SealedCall>({
    service: target.service,
    method: target.handler,
    key: target.key,
    parameter: call,
    inputSerde: jsonOf(sdk),
    ...(delayMs > 0 && { delay: delayMs }),
    ...(once !== null && { idempotencyKey: once }),
  })
}
