// Applies `toModelOutput` of a tool: the model sees its return value. The event keeps the full result.
import { toJsonValue } from '../../core/base/to-json-value.ts'
import type { ModelOutput } from '../../core/content/content.ts'
import { messageOf } from '../../core/error/error.ts'
import { isFailure } from '../../core/event/invocation-state.ts'
import { partsOf } from '../context/result-parts.ts'
import { cutResponse, responseOf, sizeOf } from './cut-response.ts'
import type { DispatchHost } from './host.ts'
import type { CallResult, ResolvedCall } from './outcome.ts'
import { waitFor } from './wait-with-deadline.ts'

interface SettledCall extends ResolvedCall {
  readonly host: DispatchHost
  readonly args: unknown
}

/** Adds the model output to a result. Errors are not changed. */
export async function withModelOutput(settled: SettledCall, result: CallResult, value: unknown): Promise<CallResult> {
  const { host, call, entry, context, args } = settled
  const { toModelOutput, name, timeoutMs = host.services.toolTimeoutMs } = entry.tool
  if (!toModelOutput || isFailure(result.response)) return result
  try {
    const given = { args, result: value, functionCallId: call.id }
    const converting = async (): Promise<unknown> => await toModelOutput.call(entry.tool, given)
    const shown = await waitFor(converting(), { host, name, step: 'toModelOutput', context, timeoutMs })
    if (shown === undefined) throw new TypeError('it returned undefined')
    const parts = partsOf(shown)
    const modelOutput = {
      response: fitToLimit(shown, host.services.maxResultBytes),
      ...(parts && { showsMedia: true }),
    }
    return { ...result, modelOutput, parts: parts ?? result.parts }
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    // the model does not see the full result: the tool author may have wanted to hide parts of it
    const problem = `toModelOutput of tool "${name}" failed for call ${call.id}: ${messageOf(error)}`
    host.services.logger.error(problem, error)
    return { ...result, modelOutput: HIDDEN }
  }
}

const HIDDEN: ModelOutput = {
  response: {
    error: 'The call is done, but its result cannot be shown. Do not repeat the call.',
    errorCode: 'INVALID_RESULT',
  },
}

function fitToLimit(shown: unknown, maxBytes: number): ModelOutput['response'] {
  const plain = toJsonValue(shown)
  const response = responseOf(plain.value)
  const bytes = sizeOf(response, plain.bytes, maxBytes)
  return bytes > maxBytes ? cutResponse(JSON.stringify(response), bytes, maxBytes) : response
}
