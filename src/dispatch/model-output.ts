// What the model sees of a result: what the tool's `toModelOutput` makes of it. The event keeps the whole result.
import { toJsonValue } from '../base/to-json-value.ts'
import type { ModelOutput } from '../content/content.ts'
import { messageOf } from '../error/error.ts'
import { isFailure } from '../event/fold.ts'
import { partsOf } from '../tool/result-parts.ts'
import type { DispatchHost } from './host.ts'
import type { CallResult, ResolvedCall } from './outcome.ts'
import { cutResponse, responseOf, sizeOf } from './response.ts'
import { waitFor } from './wait.ts'

interface Made extends ResolvedCall {
  readonly host: DispatchHost
  readonly args: unknown
}

/** Adds what the model sees. Errors are shown as they are. */
export async function withModelOutput(made: Made, result: CallResult, value: unknown): Promise<CallResult> {
  const { host, call, entry, context, args } = made
  const { toModelOutput, name, timeoutMs = host.services.toolTimeoutMs } = entry.tool
  if (!toModelOutput || isFailure(result.response)) return result
  const what = `toModelOutput of tool "${name}"`
  try {
    const given = { args, result: value, functionCallId: call.id }
    const making = async (): Promise<unknown> => await toModelOutput.call(entry.tool, given)
    const shown = await waitFor(making(), { host, name: what, context, timeoutMs })
    if (shown === undefined) throw new TypeError('it returned undefined')
    const parts = partsOf(shown)
    const modelOutput = { response: fitted(shown, host.services.maxResultBytes), ...(parts && { showsMedia: true }) }
    return { ...result, modelOutput, parts: parts ?? result.parts }
  } catch (error) {
    if (host.stop.stopped) throw host.stop.stopped.reason
    // the result stays hidden: a short one may be all that the model is meant to see
    host.services.logger.error(`${what} failed for call ${call.id}: ${messageOf(error)}`, error)
    return { ...result, modelOutput: HIDDEN }
  }
}

const HIDDEN: ModelOutput = {
  response: {
    error: 'The call is done, but its result cannot be shown. Do not repeat the call.',
    errorCode: 'INVALID_RESULT',
  },
}

function fitted(shown: unknown, maxBytes: number): ModelOutput['response'] {
  const plain = toJsonValue(shown)
  const response = responseOf(plain.value)
  const bytes = sizeOf(response, plain.bytes, maxBytes)
  return bytes > maxBytes ? cutResponse(JSON.stringify(response), bytes, maxBytes) : response
}
