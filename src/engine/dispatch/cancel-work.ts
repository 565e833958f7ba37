// Ends what calls have left outside the log when they are cancelled: long-running work, and open consents.

import { copyJson, type JsonObject } from '../../core/base/json.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { messageOf } from '../../core/error/error.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { forgetConsent } from '../../services/auth/consent/consent-record.ts'
import { CallContext } from '../context/call-context.ts'
import { authServicesOf } from '../context/credentials.ts'
import type { Tool } from '../tool/tool.ts'
import { bodyArgs } from './body-args.ts'
import type { DispatchHost } from './host.ts'

/** A long-running call whose body has returned its handle. */
export interface StartedWork {
  /** The call that started the work. */
  readonly call: CallState
  /** The tool of the call; undefined when the agent no longer has it. */
  readonly tool: Tool | undefined
  /** The handle the body returned. */
  readonly handle: JsonObject
}

/** How long a run waits for `cancel` of its tools, and for the store of consents, in milliseconds. */
const CANCEL_MS = 5_000

/** Calls `cancel` of each tool that has one. A failure is logged: the outcome of the call is unknown either way. */
export async function cancelWork(host: DispatchHost, started: readonly StartedWork[]): Promise<void> {
  const { appName, userId, sessionId } = host
  for (const { call } of started) host.services.background?.stop({ appName, userId, sessionId }, call.id)
  const cancelling = started.flatMap((work) => (work.tool?.cancel ? [cancelOne(host, work, work.tool)] : []))
  if (cancelling.length === 0) return
  await withTimeout(Promise.all(cancelling), CANCEL_MS, host.services.ports, () =>
    host.services.logger.warn(
      `cancel() of a tool is still running after ${CANCEL_MS} ms. The run no longer waits for it.`,
    ),
  )
}

async function cancelOne(host: DispatchHost, { call, handle }: StartedWork, tool: Tool): Promise<void> {
  const context = new CallContext({
    host,
    tool,
    agentName: call.agent,
    functionCallId: call.id,
    onProgress: () => {},
  })
  const { idempotencyKey } = context
  try {
    const args = await bodyArgs(tool, call.intentArgs ?? call.args)
    await tool.cancel?.({ handle: copyJson(handle), idempotencyKey, args, context })
  } catch (error) {
    host.services.logger.warn(`cancel() of tool "${tool.name}" failed: ${messageOf(error)}`, error)
  }
}

/** The response to a call whose long-running work was cancelled. With `effect: 'none'` the outcome is known. */
export function cancelledWork({ tool, handle }: Omit<StartedWork, 'call'>, reason: string): JsonObject {
  if (tool?.effect === 'none') return { error: reason, errorCode: 'CANCELLED', handle }
  const error = `${reason} The long-running work has started and may still take effect.`
  return { status: 'unknown_outcome', error, errorCode: 'UNKNOWN_OUTCOME', handle }
}

/** Deletes the consents of calls that have ended: their requests can no longer be answered. */
export async function forgetConsents(host: DispatchHost, calls: Iterable<CallState>): Promise<void> {
  const requests = [...calls].flatMap((call) => call.requests.map(({ request }) => request))
  const ids = requests.flatMap(({ kind, id }) => (kind === 'credential' ? [id] : []))
  if (ids.length === 0) return
  const services = authServicesOf(host)
  const forgotten = Promise.all(ids.map((id) => forgetConsent(services, id)))
  await withTimeout(forgotten, CANCEL_MS, host.services.ports, () => undefined)
}
