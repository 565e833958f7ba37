import type { JsonObject } from '../base/json.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { tool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { callOperation, type OperationPlan } from './call-operation.ts'
import { isSafeMethod } from './effect-of.ts'
import type { Operation } from './operation.ts'

/** Makes the tool of an operation. */
export function operationTool(plan: OperationPlan): Tool {
  const { operation, security, effect, options } = plan
  const configs = security.type === 'usable' ? security.configs.map(({ config }) => config) : []
  return tool({
    name: operation.name,
    description: describe(operation),
    parameters: operation.argumentsSchema,
    effect,
    timeoutMs: options.timeoutMs,
    requiresConfirmation: gateOf(plan),
    confirmationHint: `Approve ${operation.method} ${operation.path} at ${plan.base.origin}?`,
    ...(configs.length && { authConfig: configs.length === 1 ? configs[0] : configs }),
    run: (args: unknown, context) => callOperation(plan, args, context),
  })
}

function describe({ description, isDeprecated, method, path }: Operation): string {
  const text = description || `${method} ${path}`
  return isDeprecated ? `Deprecated. ${text}` : text
}

type Gate = boolean | ((args: unknown, context: ReadonlyContext) => boolean | Promise<boolean>)

function gateOf({ operation, options }: OperationPlan): Gate {
  const { requiresConfirmation = false, confirmUnsafe = false } = options
  if (confirmUnsafe && !isSafeMethod(operation.method)) return true
  if (typeof requiresConfirmation === 'boolean') return requiresConfirmation
  if (typeof requiresConfirmation !== 'function') return requiresConfirmation.includes(operation.name)
  // the cast is true: the schema of the arguments accepts objects only
  return (args, context) => requiresConfirmation(args as JsonObject, context, operation)
}
