// Requests that a tool body makes with `context.requestConfirmation()`, `requestInput()` and `requestCredential()`.

import { canonicalJson, copyJson, type JsonObject, jsonSize } from '../../core/base/json.ts'
import { MAX_MESSAGE_LENGTH, MAX_METADATA_BYTES, MAX_NAME_LENGTH, MAX_REQUESTS } from '../../core/base/limits.ts'
import { ToolError } from '../../core/error/error.ts'
import { declinedIn, inputOf } from '../../core/event/decision.ts'
import type { RequestRecord } from '../../core/event/event.ts'
import type { RequestState } from '../../core/event/invocation-state.ts'
import { type CompiledSchema, compileSchema } from '../../core/schema/compile.ts'
import { withoutSecrets } from '../../services/auth/config/client-auth-config.ts'
import type { RequestedActions } from './actions.ts'
import type { AnsweredInput } from './context.ts'

/** A confirmation, an input or a credential that a tool body requests. `authConfig` is the server's own: it may hold secrets. */
export type BodyRequest = Pick<
  RequestRecord,
  'kind' | 'key' | 'hint' | 'payload' | 'schema' | 'authConfig' | 'sealed' | 'mayDecline'
> & {
  /** When the request expires, in milliseconds. Default: as the tool says. */
  readonly expiresInMs?: number
}

/** Adds a request to those of the attempt. It replaces one of the same kind and key. Throws if there are too many. */
export function addRequest(requested: readonly BodyRequest[], added: BodyRequest): readonly BodyRequest[] {
  checkSize(added)
  const others = requested.filter(({ kind, key }) => kind !== added.kind || key !== added.key)
  if (others.length < MAX_REQUESTS) return [...others, added]
  throw new ToolError(
    `The call makes more than ${MAX_REQUESTS} requests at a time. Request the rest after the answers, when the body runs again.`,
  )
}

/** Throws if a request is too large to be recorded and shown to the approver. */
function checkSize({ key = '', hint = '', payload, schema, sealed }: BodyRequest): void {
  if (key.length > MAX_NAME_LENGTH)
    throw new ToolError(
      `The key of a request has ${key.length} characters, at most ${MAX_NAME_LENGTH} are allowed. Use a shorter key.`,
    )
  if (hint.length > MAX_MESSAGE_LENGTH) {
    const problem = `The hint or message of a request has ${hint.length} characters, at most ${MAX_MESSAGE_LENGTH} are allowed`
    throw new ToolError(`${problem}. Pass the rest as payload, or save it as an artifact.`)
  }
  if (jsonSize({ payload, schema, sealed }, MAX_METADATA_BYTES) > MAX_METADATA_BYTES) {
    const problem = `The payload, the schema and the sealed data of a request are too large: at most ${MAX_METADATA_BYTES} bytes are allowed`
    throw new ToolError(`${problem}. Save large data as an artifact.`)
  }
}

/** Has an approver approved this confirmation? A different hint or payload is a different request. */
export function isConfirmed(earlier: readonly RequestState[], { hint, payload = null }: BodyRequest): boolean {
  const wanted = canonicalJson(payload)
  return earlier.some(
    ({ request, answer }) =>
      request.kind === 'confirmation' &&
      request.origin === 'body' &&
      request.hint === hint &&
      canonicalJson(request.payload ?? null) === wanted &&
      answer !== undefined,
  )
}

/** The schemas of input requests, by key. */
export type InputSchemas = ReadonlyMap<string, Pick<CompiledSchema, 'parse'>>

/** The latest answer to the input request with this key. Undefined if there is none, or if the schema rejects it. */
export function findInput(
  earlier: readonly RequestState[],
  key: string,
  schema: Pick<CompiledSchema, 'parse'> | undefined,
): { readonly value: unknown } | undefined {
  const latest = earlier.findLast(
    ({ request, answer }) =>
      request.kind === 'input' && request.key === key && answer !== undefined && !declinedIn(answer),
  )
  return latest?.answer && acceptInput(key, latest.answer, schema)
}

/** The value of an answer as the schema accepts it, with defaults and without dropped fields. Undefined if it rejects it. */
function acceptInput(
  key: string,
  answer: JsonObject,
  schema: Pick<CompiledSchema, 'parse'> | undefined,
): { readonly value: unknown } | undefined {
  const value = inputOf(answer)
  if (!schema) return { value: copyJson(value) }
  const parsed = schema.parse(value)
  if (!(parsed instanceof Promise)) return parsed.issues ? undefined : parsed
  const problem = `requestInput(): the schema of key "${key}" validates asynchronously, which is not supported`
  throw new ToolError(`${problem}. Use a schema without async checks.`)
}

/**
 * The answered input requests of a call, in the order of the requests. A value is what the schema of its key accepts: one of
 * `schemas`, or else the recorded JSON Schema of the request. An answer that the schema rejects is left out.
 */
export function answeredInputs(earlier: readonly RequestState[], schemas: InputSchemas): AnsweredInput[] {
  return earlier.flatMap(({ request, answer }): AnsweredInput[] => {
    if (request.kind !== 'input' || answer === undefined) return []
    const { key = '', sealed } = request
    const returned = { key, ...(sealed !== undefined && { sealed: copyJson(sealed) }) }
    if (declinedIn(answer)) return [{ ...returned, declined: true, value: undefined }]
    const accepted = acceptInput(key, answer, schemas.get(key) ?? recordedSchema(request))
    return accepted ? [{ ...returned, value: accepted.value }] : []
  })
}

/** The schema that the answer was checked against when it arrived. */
function recordedSchema({ id, schema }: RequestRecord): CompiledSchema | undefined {
  return schema && compileSchema(schema, `Request "${id}"`, { lenient: true })
}

/** The requests as `context.actions` shows them: the confirmation under the call id, inputs under their keys. */
export function toRequestedActions(requested: readonly BodyRequest[], callId: string): RequestedActions {
  const confirmation = requested.find(({ kind }) => kind === 'confirmation')
  const inputs = requested.filter(({ kind }) => kind === 'input')
  const shown = confirmation && {
    hint: confirmation.hint ?? '',
    confirmed: false,
    ...(confirmation.payload !== undefined && { payload: copyJson(confirmation.payload) }),
  }
  const credential = requested.find(({ authConfig }) => authConfig)
  return {
    ...(credential?.authConfig && {
      requestedAuthConfigs: Object.fromEntries([[callId, withoutSecrets(credential.authConfig)]]),
    }),
    ...(shown && { requestedToolConfirmations: Object.fromEntries([[callId, shown]]) }),
    ...(inputs.length && {
      requestedInputs: Object.fromEntries(
        inputs.map(({ key = '', hint = '', schema }) => [key, { message: hint, ...(schema && { schema }) }]),
      ),
    }),
  }
}
