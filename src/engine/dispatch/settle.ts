// Turns the value of a body into a response object: JSON, validated, and within the size limit.
import { isRecord, type JsonObject } from '../../core/base/json.ts'
import { toJsonValue } from '../../core/base/to-json-value.ts'
import { messageOf } from '../../core/error/error.ts'
import type { CallState } from '../../core/event/invocation-state.ts'
import { describeInvalidResult, type ParseResult } from '../../core/schema/issues.ts'
import type { CallContext } from '../context/call-context.ts'
import { partsOf } from '../context/result-parts.ts'
import { cutResponse, MOST_BYTES_A_CHARACTER, responseOf, sizeOf } from './cut-response.ts'
import type { DispatchHost } from './host.ts'
import { withModelOutput } from './model-output.ts'
import { type CallResult, failure } from './outcome.ts'
import type { ToolEntry } from './resolve.ts'
import { toolAsResult, warnDropped } from './unstorable-result.ts'
import { Timeout, waitFor } from './wait-with-deadline.ts'

/** A call whose body has returned. */
interface Unsettled {
  /** The run. */
  readonly host: DispatchHost
  /** The call. */
  readonly call: CallState
  /** The tool. */
  readonly entry: ToolEntry
  /** The context of the body, with its writes. */
  readonly context: CallContext
  /** The validated arguments. */
  readonly args: unknown
  /** The value of the body or of a callback. */
  readonly value: unknown
  /** The value is a handle; the result comes later. */
  readonly pending: boolean
}

/** Creates the result of a call. Synchronous for a small value without an output schema. */
export function settle(unsettled: Unsettled): CallResult | Promise<CallResult> {
  const { host, call, entry, context, value, pending } = unsettled
  // the full value is needed only for a schema or an artifact; else encoding stops after the limit
  const plain =
    entry.parseResult || host.artifactService
      ? toJsonValue(value)
      : toJsonValue(value, 4 * host.services.maxResultBytes)
  if (plain.hasDropped) {
    const problem = toolAsResult(entry.tool, value)
    if (problem !== undefined) {
      host.services.logger.error(problem)
      return failure(call, 'INVALID_RESULT', problem)
    }
    warnDropped(entry.tool, value, host.services.logger)
  }
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

/** Waits for an asynchronous validator as long as for the body. */
async function parseResultInTime(
  unsettled: Unsettled,
  parsing: ParseResult | Promise<ParseResult>,
): Promise<ParseResult | Timeout> {
  if (!(parsing instanceof Promise)) return parsing
  const { host, entry, context } = unsettled
  const { name, timeoutMs = host.services.toolTimeoutMs } = entry.tool
  try {
    return await waitFor(parsing, { host, name, step: 'Result validation', context, timeoutMs })
  } catch (error) {
    if (error instanceof Timeout) return error
    throw error
  }
}

/** Truncates a response that is too large. The full response is saved as an artifact if there is an artifact service. */
async function truncateResponse(
  { host, call, context }: Unsettled,
  response: JsonObject,
  bytes: number,
): Promise<JsonObject> {
  const text = JSON.stringify(response)
  const short = cutResponse(text, bytes, host.services.maxResultBytes)
  if (!host.artifactService) return short
  const filename = `${call.name.replaceAll(':', '-')}-${call.id}.json` // `user:` would make it an artifact of the user, for every session
  try {
    const version = await context.saveArtifact(filename, { text })
    return { ...short, artifact: { filename, version } }
  } catch (error) {
    host.services.logger.warn(
      `The full result of tool "${call.name}" could not be saved as an artifact: ${messageOf(error)}`,
    )
    return short
  }
}
