import { deepFreeze } from '../../core/base/deep-freeze.ts'
import { showInvisible } from '../../core/base/escape.ts'
import type { JsonObject } from '../../core/base/json.ts'
import { messageOf } from '../../core/error/error.ts'
import { type CompiledSchema, compileSchema } from '../../core/schema/compile.ts'
import type { ParseResult } from '../../core/schema/issues.ts'
import type { ReadonlyContext } from '../../engine/context/context.ts'
import { checkTool } from '../../engine/tool/check-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { hideCredentials } from '../../services/auth/config/hide-credentials.ts'
import { callOperation } from './call-operation.ts'
import { isSafeMethod } from './effect-of.ts'
import type { ApiOperation, RequestBody } from './operation.ts'
import type { OperationPlan } from './operation-plan.ts'

/**
 * Makes the tool of an operation. Its schema is compiled at the first call: in a large document each operation reaches
 * hundreds of schemas, and a model calls few of them.
 */
export function operationTool(plan: OperationPlan): Tool {
  const { operation, security, effect, options } = plan
  const { name, argumentsSchema } = operation
  const configs = security.type !== 'missing' ? security.configs.map(({ config }) => hideCredentials(config)) : []
  const description = describe(operation)
  // frozen, because operations share definitions
  const declaration = deepFreeze({ name, description, parametersJsonSchema: argumentsSchema })
  const hint = `Approve ${operation.method} ${showInvisible(operation.path)} at ${plan.base.origin}?`
  const made: Tool = {
    name,
    description,
    declaration: () => declaration,
    parse: lazyParser(operation),
    effect,
    timeoutMs: options.timeoutMs,
    requiresConfirmation: gateOf(plan),
    confirmationHint: () => hint,
    ...(isEditable(plan) && { allowEditedArgs: true }),
    sendsTo: () => placeOf(plan),
    ...(configs.length && { authConfig: configs }),
    run: (args, context) => callOperation(plan, args, context),
  }
  checkTool(made)
  return Object.freeze(made)
}

/** Where a call goes: the request line, and in which part of the request each argument is sent. */
function placeOf({ operation, base }: OperationPlan): JsonObject {
  const { method, path, parameters, body } = operation
  const fields = parameters.map(({ argument, name, in: place, style, explode, allowReserved, contentType }) => {
    return { argument, name, in: place, style, explode, allowReserved, contentType }
  })
  fields.sort((one, other) => (one.argument < other.argument ? -1 : 1)) // the order of a document decides nothing
  return { method, path, server: base.href, fields, body: body && bodyPlaceOf(body) }
}

function bodyPlaceOf({ contentType, kind, encoding, fileProperties, fields }: RequestBody): JsonObject {
  const properties = [...encoding].map(([name, how]) => ({ name, ...how }))
  properties.sort((one, other) => (one.name < other.name ? -1 : 1))
  return {
    contentType,
    kind,
    properties,
    files: [...fileProperties].sort(),
    ...(fields && { fields: fields.toSorted() }),
  }
}

function lazyParser({ name, argumentsSchema }: ApiOperation): (args: unknown) => ParseResult | Promise<ParseResult> {
  let parse: CompiledSchema['parse'] | undefined
  return (args) => {
    try {
      parse ??= compileSchema(argumentsSchema, `Operation "${name}"`, { object: true }).parse
    } catch (error) {
      return { issues: [{ path: '', expected: `a schema that can be checked. ${messageOf(error)}` }] }
    }
    return parse(args)
  }
}

function describe({ description, isDeprecated, method, path }: ApiOperation): string {
  const text = description || `${method} ${path}`
  return isDeprecated ? `Deprecated. ${text}` : text
}

function isEditable({ operation, options }: OperationPlan): boolean {
  const { allowEditedArgs = false } = options
  return typeof allowEditedArgs === 'boolean' ? allowEditedArgs : allowEditedArgs.includes(operation.name)
}

type Gate = boolean | ((args: JsonObject, context: ReadonlyContext) => boolean | Promise<boolean>)

function gateOf({ operation, options }: OperationPlan): Gate {
  const { requiresConfirmation = false, confirmUnsafe = false } = options
  if (confirmUnsafe && !isSafeMethod(operation.method)) return true
  if (typeof requiresConfirmation === 'boolean') return requiresConfirmation
  if (typeof requiresConfirmation !== 'function') return requiresConfirmation.includes(operation.name)
  return (args, context) => requiresConfirmation(args, context, operation)
}
