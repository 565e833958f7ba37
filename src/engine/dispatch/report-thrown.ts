import { ToolError } from '../../core/error/error.ts'
import { ThrownInCall } from '../../core/error/thrown-in-call.ts'
import type { CallContext } from '../context/call-context.ts'
import { hideCredentials } from './hide-credentials.ts'
import type { DispatchHost } from './host.ts'
import { Timeout } from './wait-with-deadline.ts'

/** What threw, and what the report leaves out. */
interface ThrowingStep {
  /** The call. */
  readonly call: { readonly id: string; readonly name: string }
  /** The callback that threw. Undefined: the body. */
  readonly step?: string
  /** The context of the call, whose credentials are hidden. Undefined: there are none yet. */
  readonly context?: CallContext
  /** Leaves out the message: it may hold values of arguments. Default false. */
  readonly hidesMessage?: boolean
}

/** Reports an error with its stack. A `ToolError` was thrown on purpose, and a timeout has no stack of the tool. */
export function reportThrown(
  host: DispatchHost,
  error: unknown,
  { call, step, context, hidesMessage = false }: ThrowingStep,
): void {
  if (error instanceof ToolError || error instanceof Timeout) return
  const { userId, sessionId, invocationId, services } = host
  const about = { userId, sessionId, invocationId, functionCallId: call.id, toolName: call.name }
  const hide = context && ((text: string): string => hideCredentials(context, text))
  const thrown = new ThrownInCall(error, about, { hidesMessage, ...(hide && { hide }) })
  const what = step === undefined ? `Tool "${call.name}"` : `${step} of tool "${call.name}"`
  services.logger.error(`${what} threw in call "${call.id}" of invocation "${invocationId}": ${thrown.message}`, thrown)
  services.onThrown?.(thrown)
}
