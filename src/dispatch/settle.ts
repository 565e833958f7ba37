// Whatever a body gave becomes a response object: JSON, checked, and no larger than the cap.
import { isRecord, type JsonObject } from '../base/json.ts'
import { toPlain } from '../base/plain.ts'
import { messageOf } from '../error/error.ts'
import type { CallState } from '../event/fold.ts'
import { invalidResult, type Parsed } from '../schema/parsed.ts'
import type { CallContext } from '../tool/call-context.ts'
import { partsOf } from '../tool/parts.ts'
import type { DispatchHost } from './host.ts'
import { failure, type Result } from './outcome.ts'
import type { ToolEntry } from './resolve.ts'
import { Timeout, waitFor } from './wait.ts'

/** As JSON in UTF-8: a control character is `\\u0001`. */
const MOST_BYTES_A_CHARACTER = 6

export interface Unsettled {
  readonly host: DispatchHost
  readonly call: CallState
  readonly entry: ToolEntry
  readonly context: CallContext
  readonly value: unknown
  readonly pending: boolean
}

export function settle(unsettled: Unsettled): Result | Promise<Result> {
  const { host, call, entry, context, value, pending } = unsettled
  // without a place for the whole, what is cut away is not even encoded; a schema checks all of it
  const plain = entry.parseResult || host.artifactService ? toPlain(value) : toPlain(value, 4 * host.maxResultBytes)
  if (entry.parseResult || plain.bytes * MOST_BYTES_A_CHARACTER > host.maxResultBytes)
    return settleSlowly(unsettled, plain)
  return {
    type: 'result',
    call,
    response: responseOf(plain.value),
    parts: partsOf(value),
    actions: context.take(),
    pending,
  }
}

async function settleSlowly(unsettled: Unsettled, plain: { value: unknown; bytes: number }): Promise<Result> {
  const { host, call, entry, context, value, pending } = unsettled
  let result = plain.value
  if (entry.parseResult && !pending) {
    const parsed = await checkedInTime(unsettled, entry.parseResult(result))
    if (parsed instanceof Timeout)
      return failure(call, 'INVALID_RESULT', `${parsed.message}. The call is done; do not repeat it.`)
    if (parsed.issues) return failure(call, 'INVALID_RESULT', invalidResult(call.name, parsed.issues))
    result = toPlain(parsed.value).value
  }
  let response = responseOf(result)
  const bytes = sizeOf(response, plain.bytes, host.maxResultBytes)
  if (bytes > host.maxResultBytes) response = await cut(unsettled, response, bytes)
  return { type: 'result', call, response, parts: partsOf(value), actions: context.take(), pending }
}

/** A validator that waits has as long as the body. */
async function checkedInTime(unsettled: Unsettled, parsing: Parsed | Promise<Parsed>): Promise<Parsed | Timeout> {
  if (!(parsing instanceof Promise)) return parsing
  const { host, entry, context } = unsettled
  const { name, timeoutMs = host.toolTimeoutMs } = entry.tool
  try {
    return await waitFor(parsing, { host, name: `The validation of the result of ${name}`, context, timeoutMs })
  } catch (error) {
    if (error instanceof Timeout) return error
    throw error
  }
}

/** The estimate, or the exact size when it might make a difference. */
function sizeOf(response: JsonObject, estimate: number, max: number): number {
  if (estimate > max || estimate * MOST_BYTES_A_CHARACTER <= max) return estimate
  return bytesOf(JSON.stringify(response))
}

/** Objects as they are, anything else as `{ result }`. */
function responseOf(value: unknown): JsonObject {
  return isRecord(value) ? value : { result: value ?? null }
}

/** Head and tail of what is too large; the whole goes to an artifact when there is a service for it. */
async function cut({ host, call, context }: Unsettled, response: JsonObject, bytes: number): Promise<JsonObject> {
  const text = JSON.stringify(response)
  const short: JsonObject = {
    truncated: true,
    bytes: Math.max(bytes, text.length),
    ...endsOf(text, host.maxResultBytes),
  }
  if (!host.artifactService) return short
  const filename = `${call.name.replaceAll(':', '-')}-${call.id}.json` // `user:` would be the user's, in every session
  try {
    const version = await context.saveArtifact(filename, { text })
    return { ...short, artifact: { filename, version } }
  } catch (error) {
    host.logger.warn(`The whole result of ${call.name} could not be saved: ${messageOf(error)}`)
    return short
  }
}

/** As much of both ends as fits: half of the cap in characters, less when they take more than a byte each. */
function endsOf(text: string, maxBytes: number): { head: string; tail: string } {
  for (let keep = Math.floor(maxBytes / 4); ; keep = Math.floor(keep / 2)) {
    const ends = { head: whole(text.slice(0, keep)), tail: whole(text.slice(text.length - keep)) }
    if (keep === 0 || bytesOf(JSON.stringify(ends)) <= maxBytes) return ends
  }
}

function bytesOf(text: string): number {
  return utf8.encode(text).length
}

const utf8 = new TextEncoder()

/** Without the halves of characters that a cut leaves at either end. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
}
