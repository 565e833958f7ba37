// One call of an operation: build the request, attach the credentials, send it, and turn the response into a result.
import { isLoopback } from '../auth/config/endpoint.ts'
import { isRecord } from '../base/json.ts'
import { withSystemPorts } from '../base/ports.ts'
import type { SecretMask } from '../base/secret-mask.ts'
import { ToolError } from '../error/error.ts'
import type { ToolContext } from '../tool/context.ts'
import type { Effect } from '../tool/tool.ts'
import { effectOf } from './effect-of.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import type { Operation } from './operation.ts'
import { type ApiRequest, buildRequest } from './request/build-request.ts'
import { loadFile } from './request/load-file.ts'
import { isSecretHeader, secretMask } from './response/request-secrets.ts'
import { type ApiResponse, type ApiResult, errorOf, toResult } from './response/to-result.ts'
import { attachCredentials, checkKeyNames } from './security/attach-credentials.ts'
import type { Security } from './security/choose-security.ts'
import { satisfies } from './security/header-credentials.ts'
import { renewCredentials } from './security/renew-credentials.ts'
import { sendRequest } from './send/send-request.ts'
import type { ApiToolsetOptions } from './toolset-options.ts'

/** Everything that is decided about an operation before it is called. */
export interface OperationPlan {
  /** The operation. */
  readonly operation: Operation
  /** The address of its server. */
  readonly base: URL
  /** The credentials it needs. */
  readonly security: Security
  /** Its side effects. */
  readonly effect: Effect
  /** The header for the idempotency key; undefined if the API supports none. */
  readonly idempotencyHeader: string | undefined
  /** The options of the toolset. */
  readonly options: ApiToolsetOptions
}

const RETRIES = 2
const UNAUTHORIZED = 401
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024

/**
 * Calls an operation. If the API refuses a stored token, another one is resolved and the call is sent once more. Returns
 * undefined after a request to the user. Throws a `ToolError` whose message contains no secret, or the reason of the signal.
 */
export async function callOperation(
  plan: OperationPlan,
  args: unknown,
  context: ToolContext,
): Promise<ApiResult | undefined> {
  if (plan.security.type === 'missing') throw missingCredentials(plan)
  let credentials = context.authCredentials
  const headers = await developerHeaders(plan, context)
  const { configs } = plan.security
  if (plan.security.type === 'headers' && !satisfies(headers, plan.security.alternatives))
    throw missingCredentials(plan)
  const isSecret = secretHeaders(plan)
  let mask = secretMask(credentials, headers, isSecret)
  try {
    checkKeyNames(plan.operation, configs, args)
    const request = await buildRequest(plan.operation, plan.base, args, (name) => loadFile(name, context))
    const { idempotencyHeader } = plan
    if (idempotencyHeader !== undefined)
      request.headers.set(idempotencyHeader, await idempotencyKeyOf(context.idempotencyKey))
    for (const [name, value] of headers) request.headers.set(name, value)
    const authorize = (sent: Request): Request => attachCredentials(sent, configs, credentials, plan.base.origin)
    let response = await send(plan, request, { authorize, context })
    if (response.status === UNAUTHORIZED) {
      const renewal = await renewCredentials(context, configs)
      if (renewal.type === 'waiting') return undefined
      if (renewal.type === 'renewed') {
        mask = secretMask([...credentials, ...renewal.credentials], headers, isSecret)
        credentials = renewal.credentials
        response = await send(plan, request, { authorize, context })
      }
    }
    const about = { operation: plan.operation, context, mask }
    if (response.status >= 400) throw errorOf(response, about, isHarmless(plan))
    return await toResult(response, about)
  } catch (error) {
    throw error instanceof ToolError ? withoutSecrets(error, mask) : error
  }
}

async function send(
  plan: OperationPlan,
  request: ApiRequest,
  call: { authorize(request: Request): Request; readonly context: ToolContext },
): Promise<ApiResponse> {
  const { effect, options } = plan
  return await sendRequest(request, {
    authorize: call.authorize,
    signal: call.context.signal,
    isRepeatable: effect !== 'atMostOnce',
    isHarmless: isHarmless(plan),
    retries: options.retries ?? RETRIES,
    maxResponseBytes: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
    fetch: options.fetch ?? fetch,
    ports: withSystemPorts(options.ports),
  })
}

/** May the model call the operation again after a failure? */
function isHarmless({ operation }: OperationPlan): boolean {
  return effectOf(operation.method, false) !== 'atMostOnce'
}

function missingCredentials({ operation, security }: OperationPlan): ToolError {
  const problem = security.type === 'usable' ? '' : security.problem
  return new ToolError(`Operation "${operation.name}" ${problem}`, { code: 'AUTH_FAILED' })
}

/** Which headers of the developer hold secrets: by their names, or because the document asks for them. */
function secretHeaders({ security }: OperationPlan): (name: string) => boolean {
  const needs = security.type === 'headers' ? security.alternatives.flat() : []
  return (name) => isSecretHeader(name) || needs.some(({ header }) => header === name.toLowerCase())
}

async function developerHeaders(plan: OperationPlan, context: ToolContext): Promise<Headers> {
  const { options, base } = plan
  const isSecret = secretHeaders(plan)
  const headers = new Headers()
  const given: unknown = (await options.headers?.(context)) ?? {}
  const entries = isRecord(given) ? Object.entries(given) : undefined
  for (const [name, value] of entries ?? [['', '']]) {
    // checked before `Headers`, whose errors contain the value
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || typeof value !== 'string' || !/^[\t -~\u0080-\u00ff]*$/.test(value))
      throw new ToolError('The option headers of the toolset returned a header that cannot be sent.')
    if (isSecret(name) && base.protocol === 'http:' && !isLoopback(base))
      throw new ToolError(`The header "${name}" is not sent to ${base.origin}: http is not encrypted.`)
    headers.set(name, value)
  }
  return headers
}

function withoutSecrets(error: ToolError, mask: SecretMask): ToolError {
  const message = mask.text(error.message)
  return message === error.message ? error : new ToolError(message, { code: error.code })
}
