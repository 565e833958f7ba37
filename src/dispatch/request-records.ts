// Questions to a human, as they are recorded and as they are shown.
import { copyJson, isRecord, type JsonObject, setOwn } from '../base/json.ts'
import { toJsonValue } from '../base/to-json-value.ts'
import type { Part, ToolConfirmation } from '../content/content.ts'
import type { EventActions, NewEntry, Request } from '../event/event.ts'
import { newOwnId } from '../event/own-id.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import type { NewRequest, ReadyCall, RequestingCall } from './outcome.ts'
import { entryFor } from './resolve.ts'

/** Unless the tool says otherwise a question is good for a day. */
const EXPIRES_IN_MS = 24 * 60 * 60 * 1000

/** A body that ended with a question: it is run from the start when that is answered. */
export async function requestsFromBody({ call, entry, args, context }: ReadyCall): Promise<RequestingCall> {
  const definition = await definitionOf(entry)
  const { value } = toJsonValue(args)
  const asked: JsonObject = isRecord(value) ? value : { value }
  const requests = context.questions.map(
    (question): NewRequest => ({ ...question, origin: 'body', args: asked, definition }),
  )
  return { type: 'requesting', call, requests }
}

/** A record for each question, then the event that shows them. */
export function requestEntries(batch: Batch, asked: readonly RequestingCall[]): NewEntry[] {
  const { host, scope, agentName } = batch
  const records: Request[] = []
  const parts: Part[] = []
  const actions: EventActions = { skipSummarization: true }
  for (const { call, requests } of asked) {
    for (const question of requests) {
      const request = requestOf(batch, call.id, question)
      records.push(request)
      const { id, name, args } = call
      parts.push({ functionCall: { id: request.id, ...functionCallFor(request, { id, name, args: copyJson(args) }) } })
      if (request.kind !== 'confirmation') continue
      actions.requestedToolConfirmations ??= {}
      setOwn(actions.requestedToolConfirmations, id, confirmationOf(request)) // the model may have named it `__proto__`
    }
  }
  const event = host.recorder.draft(agentName, scope, { role: 'model', parts }, actions)
  event.longRunningToolIds = records.map(({ id }) => id)
  return [...records.map((record) => ({ record })), { event }]
}

function requestOf(batch: Batch, callId: string, question: NewRequest): Request {
  const { host, scope } = batch
  const now = host.services.ports.now()
  const call = host.fold.calls.get(callId)
  const expiresInMs = (call && entryFor(batch, call)?.tool.expiresInMs) ?? EXPIRES_IN_MS
  return {
    type: 'request',
    id: newOwnId(host.services.ports),
    invocationId: host.invocationId,
    path: scope.path,
    callId,
    ...question,
    createdAt: now / 1000,
    ...(Number.isFinite(expiresInMs) && { expiresAt: (now + expiresInMs) / 1000 }),
  }
}

/** Copies: a consumer that changes the event it was given must not change what an approval is compared with. */
function functionCallFor(request: Request, originalFunctionCall: JsonObject): { name: string; args: JsonObject } {
  if (request.kind === 'confirmation') {
    return {
      name: 'adk_request_confirmation',
      args: {
        originalFunctionCall: { ...originalFunctionCall, args: copyJson(request.args) },
        toolConfirmation: confirmationOf(request),
      },
    }
  }
  const { hint, schema } = request
  return {
    name: 'adk_request_input',
    args: { message: hint ?? '', ...(schema && { response_schema: copyJson(schema) }) },
  }
}

function confirmationOf({ hint = '', payload }: Request): ToolConfirmation {
  return { hint, confirmed: false, ...(payload !== undefined && { payload: copyJson(payload) }) }
}
