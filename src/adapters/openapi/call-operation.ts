// One call of an operation: build the request, attach the credentials, send it, and turn the response into a result.
import { withSystemPorts } from '../../core/base/ports.ts'
import type { SecretMask } from '../../core/base/secret-mask.ts'
import { ToolError } from '../../core/error/error.ts'
import { CallContext } from '../../engine/context/call-context.ts'
import type { ToolContext } from '../../engine/context/context.ts'
import { effectOf } from './effect-of.ts'
import { idempotencyKeyOf } from './idempotency-key.ts'
import type { OperationPlan } from './operation-plan.ts'
import { type ApiRequest, buildRequest } from './request/build-request.ts'
import { loadFile } from './request/load-file.ts'
import { secretMask } from './response/request-secrets.ts'
import { type ApiResponse, type ApiResult, errorOf, toResult } from './response/to-result.ts'
import { attachCredentials, checkKeyNames } from './security/attach-credentials.ts'
import { developerHeaders, secretHeaders } from './security/developer-headers.ts'
import { satisfies } from './security/header-credentials.ts'
import { renewCredentials } from './security/renew-credentials.ts'
import { sendRequest } from './send/send-request.ts'

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
    const traceparent = CallContext.traceparentFor(context, plan.base.origin)
    if (traceparent !== undefined) request.headers.set('traceparent', traceparent)
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

function withoutSecrets(error: ToolError, mask: SecretMask): ToolError {
  const message = mask.text(error.message)
  return message === error.message ? error : new ToolError(message, { code: error.code })
}
