// The headers of the option `headers`, for one call.

import { isRecord } from '../../../core/base/json.ts'
import { ToolError } from '../../../core/error/error.ts'
import type { ToolContext } from '../../../engine/context/context.ts'
import { isLoopback } from '../../../services/auth/config/endpoint.ts'
import type { OperationPlan } from '../operation-plan.ts'
import { isSecretHeader } from '../response/request-secrets.ts'

/** Which headers of the developer hold secrets: by their names, or because the document asks for them. */
export function secretHeaders({ security, ownHeaders }: OperationPlan): (name: string) => boolean {
  const needs = security.type === 'headers' ? security.alternatives.flat().map(({ header }) => header) : []
  const names = ownHeaders.type === 'refused' ? ownHeaders.names : needs
  return (name) => isSecretHeader(name) || names.includes(name.toLowerCase())
}

/**
 * The headers of the developer that are sent. None go to an origin that gets no credentials: a name does not always tell that a
 * value is secret. Throws AUTH_FAILED if the call would need one of them.
 */
export async function developerHeaders(plan: OperationPlan, context: ToolContext): Promise<Headers> {
  const { operation, options, base, ownHeaders } = plan
  const headers = new Headers()
  if (ownHeaders.type === 'withheld') return headers
  const isSecret = secretHeaders(plan)
  const given: unknown = (await options.headers?.(context)) ?? {}
  const entries = isRecord(given) ? Object.entries(given) : undefined
  for (const [name, value] of entries ?? [['', '']]) {
    // checked before `Headers`, whose errors contain the value
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || typeof value !== 'string' || !/^[\t -~\u0080-\u00ff]*$/.test(value))
      throw new ToolError('The option headers of the toolset returned a header that cannot be sent.')
    if (ownHeaders.type === 'refused') {
      if (!isSecret(name) || value === '') continue
      throw new ToolError(`Operation "${operation.name}" ${ownHeaders.problem}`, { code: 'AUTH_FAILED' })
    }
    if (isSecret(name) && base.protocol === 'http:' && !isLoopback(base))
      throw new ToolError(`The header "${name}" is not sent to ${base.origin}: http is not encrypted.`)
    headers.set(name, value)
  }
  return headers
}
