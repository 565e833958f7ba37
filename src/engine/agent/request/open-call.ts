import type { JsonObject } from '../../../core/base/json.ts'
import type { FunctionResponse, Part } from '../../../core/content/content.ts'
import { createEvent, type Event } from '../../../core/event/event.ts'

/** A call of an earlier turn that was open when a later turn began. Histories that begin with the later turn show it first. */
export interface OpenCall {
  /** The id in the log. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** The arguments of the model. */
  readonly args: JsonObject
  /** Whether the call is code to run. */
  readonly isCode: boolean
  /** The invocation of the call. */
  readonly invocationId: string
  /** The agent whose model made the call. */
  readonly agent: string
  /** The branch of the call. */
  readonly branch?: string | undefined
  /** The handle or the latest partial result, if there was one. */
  readonly response?: FunctionResponse | undefined
}

/** The call alone, as the events that a history would have read: a reply with the call, and its response. */
export function eventsOf(call: OpenCall): Event[] {
  const { agent: author, invocationId, branch, response } = call
  const event = (role: 'model' | 'tool', part: Part): Event =>
    createEvent({ author, invocationId, ...(branch !== undefined && { branch }), content: { role, parts: [part] } })
  const reply = event('model', callPart(call))
  return response && !call.isCode ? [reply, event('tool', { functionResponse: response })] : [reply]
}

function callPart({ id, name, args, isCode }: OpenCall): Part {
  if (!isCode) return { functionCall: { id, name, args } }
  return { executableCode: { id, language: String(args.language), code: String(args.code) } }
}
