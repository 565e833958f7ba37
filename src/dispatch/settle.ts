// Whatever a body gave becomes a response object: JSON, checked, and no larger than the cap.
import { isRecord, type JsonObject } from '../base/json.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import { messageOf } from '../error/error.ts'
import type { CallState } from '../event/call-state.ts'
import { describeInvalidResult, type Parsed } from '../schema/issues.ts'
import type { CallContext } from '../tool/call-context.ts'
import { partsOf } from '../tool/parts.ts'
import type { DispatchHost } from './host.ts'
import { withModelOutput } from './model-output.ts'
import { type CallResult, failure } from './outcome.ts'
import type { ToolEntry } from './resolve.ts'
import { cutResponse, MOST_BYTES_A_CHARACTER, responseOf, sizeOf } from './response.ts'
import { Timeout, waitFor } from './wait.ts'

export interface Unsettled {
  readonly host: DispatchHost
  readonly call: CallState
  readonly entry: ToolEntry
  readonly context: CallContext
  readonly args: unknown
  readonly value: unknown
  readonly pending: boolean
}

export function settle(unsettled: Unsettled): CallResult | Promise<CallResult> {
  const { host, call, entry, context, value, pending } = unsettled
  // without a place for the whole, what is cut away is not even encoded; a schema checks all of it
  const plain =
    entry.parseResult || host.artifactService
      ? toJsonValue(value)
      : toJsonValue(value, 4 * host.services.maxResultBytes)
  if (
    entry.parseResult ||
    entry.tool.toModelOutput ||
    plain.bytes * MOST_BYTES_A_CHARACTER > host.services.maxResultBytes
  )
    return settleSlowly(unsettled, plain)
  return {
    type: 'result',
    call,
    response: isRecord(plain.value) ? plain.value : responseOf(plain.value),
    parts: partsOf(value),
    actions: context.take(),
    pending,
  }
}

async function settleSlowly(unsettled: Unsettled, plain: { value: unknown; bytes: number }): Promise<CallResult> {
  const { host, call, entry, context, value, pending } = unsettled
  let result = plain.value
  let checked = value
  if (entry.parseResult && !pending) {
    const parsed = await parseResultInTime(unsettled, entry.parseResult(result))
    if (parsed instanceof Timeout)
      return failure(call, 'INVALID_RESULT', `${parsed.message}. The call is done; do not repeat it.`)
    if (parsed.issues) return failure(call, 'INVALID_RESULT', describeInvalidResult(call.name, parsed.issues))
    checked = parsed.value
    result = toJsonValue(checked).value
  }
  let response = responseOf(result)
  const bytes = sizeOf(response, plain.bytes, host.services.maxResultBytes)
  if (bytes > host.services.maxResultBytes) response = await truncateResponse(unsettled, response, bytes)
  const settled: CallResult = {
    type: 'result',
    call,
    response,
    parts: partsOf(value),
    actions: context.take(),
    pending,
  }
  return pending ? settled : await withModelOutput(unsettled, settled, checked)
}

/** A validator that waits has as long as the body. */
async function parseResultInTime(unsettled: Unsettled, parsing: Parsed | Promise<Parsed>): Promise<Parsed | Timeout> {
  if (!(parsing instanceof Promise)) return parsing
  const { host, entry, context } = unsettled
  const { name, timeoutMs = host.services.toolTimeoutMs } = entry.tool
  try {
    return await waitFor(parsing, { host, name: `The validation of the result of ${name}`, context, timeoutMs })
  } catch (error) {
    if (error instanceof Timeout) return error
    throw error
  }
}

/** Head and tail of what is too large; the whole goes to an artifact when there is a service for it. */
async function truncateResponse(
  { host, call, context }: Unsettled,
  response: JsonObject,
  bytes: number,
): Promise<JsonObject> {
  const text = JSON.stringify(response)
  const short = cutResponse(text, bytes, host.services.maxResultBytes)
  if (!host.artifactService) return short
  const filename = `${call.name.replaceAll(':', '-')}-${call.id}.json` // `user:` would be the user's, in every session
  try {
    const version = await context.saveArtifact(filename, { text })
    return { ...short, artifact: { filename, version } }
  } catch (error) {
    host.services.logger.warn(`The whole result of ${call.name} could not be saved: ${messageOf(error)}`)
    return short
  }
}
