// Gives a recorded result as the body of a call would: its value or its error, its requests and its writes.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { type ResultErrorCode, ToolError } from '../../../core/error/error.ts'
import type { Event, RequestRecord } from '../../../core/event/event.ts'
import type { ToolContext } from '../../../engine/context/context.ts'
import { withParts } from '../../../engine/context/result-parts.ts'
import { mediaOf, type RecordedBody, writesOf } from './recorded-log.ts'

/** The results of a recorded log, for one run of it. */
export class RecordedResults {
  /** Events whose writes were made: an event has the writes of all calls of a reply. */
  readonly #written: Set<string> = new Set()
  /** How often each body has run. */
  readonly #runs: Map<string, number> = new Map()

  /** What the next run of the body returns. Throws what it threw, or while its requests wait. */
  async next(body: RecordedBody, context: ToolContext): Promise<unknown> {
    const { id } = body.call
    const run = this.#runs.get(id) ?? 0
    this.#runs.set(id, run + 1)
    const requests = body.requests[run]
    if (requests) return makeRequests(requests, context)
    if (!body.handledBy) return await this.result(body, context)
    context.longRunning = true
    await this.#write(body.handledBy, context)
    return body.call.handle
  }

  /** The final result. */
  async result({ call, endedBy, escalates }: RecordedBody, context: ToolContext): Promise<unknown> {
    if (!call.response || !endedBy) throw new ToolError(`The recording has no result of this call of ${call.name}.`)
    const { response } = call.response
    const error = errorIn(response)
    if (error) throw error
    await this.#write(endedBy, context)
    if (escalates) context.actions.escalate = true
    const media = mediaOf(endedBy, call.id)
    const value = bodyValueOf(response)
    return media.length && isRecord(value) ? withParts(value, media) : value
  }

  async #write(event: Event, context: ToolContext): Promise<void> {
    if (this.#written.has(event.id)) return
    this.#written.add(event.id)
    const { state, artifacts } = writesOf(event)
    for (const [key, value] of Object.entries(state)) {
      if (value === null) context.state.delete(key)
      else context.state.set(key, value)
    }
    for (const filename of Object.keys(artifacts)) await context.saveArtifact(filename, RECORDED_ARTIFACT)
    const { transferToAgent, skipSummarization } = event.actions
    if (transferToAgent !== undefined) context.actions.transferToAgent = transferToAgent
    if (skipSummarization) context.actions.skipSummarization = true
  }
}

/** A log has the names and versions of artifacts, and not what is in them. */
const RECORDED_ARTIFACT = { text: '(the content of this artifact is not recorded)' }

function makeRequests(requests: readonly RequestRecord[], context: ToolContext): undefined {
  let pending: unknown
  for (const { kind, key = '', hint = '', payload, schema, sealed, mayDecline } of requests) {
    try {
      if (kind === 'confirmation') context.requestConfirmation({ hint, payload })
      else context.requestInput({ key, message: hint, schema, sealed, mayDecline })
    } catch (thrown) {
      pending = thrown // a confirmation stops the body: the requests after it are made first
    }
  }
  if (pending !== undefined) throw pending
  return undefined
}

/** The sentence that the framework adds to a third equal failure: it adds it again. */
const REPEAT_WARNING = ' (This exact call has now failed '

/** The error that the body threw. A failure that it returned is a value. */
function errorIn(response: JsonObject): ToolError | undefined {
  const { error, errorCode, status } = response
  if (typeof error !== 'string' || typeof errorCode !== 'string') return undefined
  const code = status === 'unknown_outcome' ? 'UNKNOWN_OUTCOME' : errorCode
  if (code !== 'REPEATED_CALL') return new ToolError(error, { code: code as ResultErrorCode }) // a recorded code is one of them
  const end = error.lastIndexOf(REPEAT_WARNING)
  return new ToolError(end < 0 ? error : error.slice(0, end))
}

/** The value as the body returned it: one that is no object is recorded as `{ result }`. */
function bodyValueOf(response: JsonObject): unknown {
  const { result } = response
  const isWrapped = Object.keys(response).length === 1 && Object.hasOwn(response, 'result') && !isRecord(result)
  return isWrapped ? result : response
}
