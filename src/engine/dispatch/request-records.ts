// Requests to a human: the records, and the event that shows them to the client.

import { copyJson, type JsonObject, setOwn } from '../../core/base/json.ts'
import type { AuthToolArguments } from '../../core/content/auth.ts'
import type {
  ConfirmationToolArguments,
  InputToolArguments,
  Part,
  ToolConfirmation,
} from '../../core/content/content.ts'
import type { EventActions, NewEntry, RequestRecord } from '../../core/event/event.ts'
import { newOwnId } from '../../core/event/own-id.ts'
import { REQUEST_NAMES } from '../../core/event/request-names.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { plainArgs } from './confirm.ts'
import { definitionOf } from './definition.ts'
import type { Batch } from './host.ts'
import type { CallResult, NewRequest, ReadyCall, RequestingCall } from './outcome.ts'
import { requestCredential } from './request-credential.ts'
import { entryFor } from './resolve.ts'

/** When a request expires, unless the tool sets `expiresInMs`: after one day. */
const EXPIRES_IN_MS = 24 * 60 * 60 * 1000

/** The outcome of a body that made requests. The body runs again from the start when they are answered. */
export async function requestsFromBody(
  batch: Batch,
  { call, entry, args: given, context }: ReadyCall,
): Promise<RequestingCall | CallResult> {
  const { host } = batch
  const definition = await definitionOf(batch, entry)
  const args = plainArgs(given)
  const requests: NewRequest[] = []
  for (const { authConfig, ...question } of context.requested) {
    if (!authConfig) {
      requests.push({ ...question, origin: 'body', args, definition })
      continue
    }
    const config = checkAuthConfig(authConfig, `Tool "${call.name}"`)
    const wanted = { origin: 'body', key: question.key ?? '', config, args, definition } as const
    const request = await requestCredential(host, call, wanted)
    if ('type' in request) return request
    requests.push(request)
  }
  return { type: 'requesting', call, requests }
}

/** A record for each request of these calls, then the event that shows them. */
export function requestEntries(batch: Batch, requesting: readonly RequestingCall[]): NewEntry[] {
  const calls = requesting.map(({ call, requests, trace }): RequestedCall => {
    return { call, requests, trace, expiresInMs: entryFor(batch, call)?.tool.expiresInMs }
  })
  return requestEvent(batch, calls)
}

/** A call, or a toolset, and the requests about it. */
export interface RequestedCall {
  /** The call as the client sees it. */
  readonly call: { readonly id: string; readonly name: string }
  /** The requests to record. */
  readonly requests: readonly NewRequest[]
  /** When the requests expire, in milliseconds. Default: one day. */
  readonly expiresInMs?: number | undefined
  /** The trace context of the attempt. Undefined: none. */
  readonly trace?: string | undefined
}

/** A record for each request, then the event that shows them. */
export function requestEvent(
  at: Pick<Batch, 'host' | 'scope' | 'agentName'>,
  requesting: readonly RequestedCall[],
): NewEntry[] {
  const { host, scope, agentName } = at
  const records: RequestRecord[] = []
  const parts: Part[] = []
  const actions: EventActions = { skipSummarization: true }
  for (const { call, requests, trace, expiresInMs = EXPIRES_IN_MS } of requesting) {
    for (const created of requests) {
      const request = requestOf(at, call.id, created, expiresInMs)
      records.push(trace === undefined ? request : { ...request, trace })
      const { id } = call
      parts.push({ functionCall: { id: request.id, ...functionCallFor(request, call) } })
      if (request.authConfig) {
        actions.requestedAuthConfigs ??= {}
        setOwn(actions.requestedAuthConfigs, id, copyJson(request.authConfig))
      }
      if (request.kind !== 'confirmation') continue
      actions.requestedToolConfirmations ??= {}
      setOwn(actions.requestedToolConfirmations, id, confirmationOf(request)) // a model may send `__proto__` as the id
    }
  }
  const event = host.recorder.draft(agentName, scope, { role: 'model', parts }, actions)
  event.longRunningToolIds = records.map(({ id }) => id)
  return [...records.map((record) => ({ record })), { event }]
}

function requestOf(
  { host, scope }: Pick<Batch, 'host' | 'scope'>,
  callId: string,
  { expiresInMs: ownExpiry, ...created }: NewRequest,
  toolExpiry: number,
): RequestRecord {
  const expiresInMs = ownExpiry ?? toolExpiry
  const now = host.services.ports.now()
  const { appName, userId, sessionId } = host
  return {
    type: 'request',
    id: newOwnId(host.services.ports),
    invocationId: host.invocationId,
    path: scope.path,
    callId,
    session: { appName, userId, sessionId },
    ...created, // with the id of a credential request
    createdAt: now / 1000,
    ...(Number.isFinite(expiresInMs) && { expiresAt: (now + expiresInMs) / 1000 }),
  }
}

/** The function call that shows a request. Holds copies: a consumer that changes the event must not change the record. */
function functionCallFor(
  request: RequestRecord,
  { id, name }: RequestedCall['call'],
): { name: string; args: JsonObject } {
  const { kind, authConfig, hint = '', schema } = request
  const originalFunctionCall = { id, name, args: copyJson(request.args) }
  if (kind === 'confirmation') {
    const args: ConfirmationToolArguments = { originalFunctionCall, toolConfirmation: confirmationOf(request) }
    return { name: REQUEST_NAMES.confirmation, args: { ...args } }
  }
  if (authConfig) {
    const args: AuthToolArguments = { functionCallId: request.callId, authConfig: copyJson(authConfig) }
    return { name: REQUEST_NAMES.credential, args: { ...args } }
  }
  const args: InputToolArguments = { message: hint, ...(schema && { response_schema: copyJson(schema) }) }
  return { name: REQUEST_NAMES.input, args: { ...args } }
}

function confirmationOf({ hint = '', payload }: RequestRecord): ToolConfirmation {
  return { hint, confirmed: false, ...(payload !== undefined && { payload: copyJson(payload) }) }
}
