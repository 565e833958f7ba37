import { closestNames } from '../../core/base/closest-names.ts'
import { messageOf, ToolwrightError } from '../../core/error/error.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { unknownFilterNames } from '../../engine/tool/unknown-filter-names.ts'
import { type LoadedDocument, loadDocument } from './document/load-document.ts'
import { Problems } from './document/problems.ts'
import { effectOf } from './effect-of.ts'
import { idempotencyHeaderOf, withoutManagedParts } from './managed-parts.ts'
import type { ApiOperation } from './operation.ts'
import type { OperationPlan } from './operation-plan.ts'
import { operationTool } from './operation-tool.ts'
import { baseUrlOf } from './request/base-url.ts'
import { checkSchemeNames } from './security/auth-option.ts'
import { chooseSecurity } from './security/choose-security.ts'
import { type Origins, originsOf, withinOrigins } from './security/origins.ts'
import type { ApiToolsetOptions } from './toolset-options.ts'

/** The tools of a document. */
interface LoadedTools {
  /** One tool for each operation that can be called. */
  readonly tools: readonly Tool[]
  /** What is wrong with the document, for the operator. */
  readonly problems: readonly string[]
}

/**
 * Makes the tools of a document. An operation that cannot be called is left out with a problem. Throws INVALID_CONFIG if no
 * operation can be called, or if an option names something that the document does not have.
 */
export async function loadTools(spec: unknown, options: ApiToolsetOptions, what: string): Promise<LoadedTools> {
  const { toolFilter } = options
  // a filter by names is applied first: what it leaves out costs nothing and is not reported
  const wanted = Array.isArray(toolFilter) ? new Set<string>(toolFilter) : undefined
  const document = await loadDocument(spec, wanted && ((name) => wanted.has(name)))
  checkSchemeNames(options.auth, document.securitySchemes, what)
  checkOperationNames(document, options, what)
  checkVariableNames(document, options, what)
  const usable = new Set(document.operations.map(({ name }) => name))
  const lost = document.names.filter((name) => wanted?.has(name) && !usable.has(name))
  const problems = [
    ...document.problems,
    ...lost.map((name) => `toolFilter names "${name}", but its operation is left out.`),
    ...unknownFilterNames(toolFilter, document.names),
  ]
  if (document.names.length === 0 && document.problems.length === 0)
    problems.push('The document has no operations. Check its "paths".')
  const origins = originsOf(document, options)
  const unusable = new Problems()
  const tools: Tool[] = []
  let first: unknown
  for (const operation of document.operations) {
    try {
      const { plan, note } = planOf(operation, { document, origins, options, what })
      tools.push(operationTool(plan))
      const problem = plan.security.type === 'missing' ? plan.security.problem : note
      if (problem !== undefined) unusable.add(`Operation "${operation.name}"`, ` ${problem}`)
    } catch (error) {
      first ??= error
      unusable.add(`Operation "${operation.name}"`, ` is left out. ${messageOf(error)}`)
    }
  }
  if (tools.length > 0 || first === undefined) return { tools, problems: [...problems, ...unusable.list()] }
  throw new ToolwrightError('INVALID_CONFIG', `${what}: no operation can be called. ${messageOf(first)}`, {
    cause: first,
  })
}

/** Methods that the Fetch standard refuses. */
const UNSENDABLE = new Set(['CONNECT', 'TRACE', 'TRACK'])

interface PlanContext {
  readonly document: LoadedDocument
  readonly origins: Origins
  readonly options: ApiToolsetOptions
  readonly what: string
}

/** The plan of an operation, and what the operator should know about it: the end of a sentence. */
function planOf(
  original: ApiOperation,
  { document, origins, options, what }: PlanContext,
): { readonly plan: OperationPlan; readonly note: string | undefined } {
  if (UNSENDABLE.has(original.method))
    throw new ToolwrightError('INVALID_CONFIG', `Requests with the method ${original.method} cannot be sent.`)
  const idempotencyHeader = idempotencyHeaderOf(original, options.idempotencyHeader)
  const operation = withoutManagedParts(original, idempotencyHeader)
  const { operations, securitySchemes: schemes } = document
  const hasHeaders = options.headers !== undefined
  const chosen = chooseSecurity(operation, { auth: options.auth, hasHeaders, schemes, operations, what })
  const base = baseUrlOf(operation, options, chosen.type !== 'missing' && chosen.configs.length > 0)
  const sent = withinOrigins({ operation, base, security: chosen, schemes, hasHeaders }, origins)
  const { security, ownHeaders, note } = sent
  const effect = effectOf(operation.method, idempotencyHeader !== undefined)
  return { plan: { operation, base, security, ownHeaders, effect, idempotencyHeader, options }, note }
}

/** A gate for a misspelled operation would gate nothing, so it is refused. */
function checkOperationNames({ names }: LoadedDocument, options: ApiToolsetOptions, what: string): void {
  for (const option of ['requiresConfirmation', 'allowEditedArgs'] as const) {
    const named = options[option]
    if (Array.isArray(named)) checkKnown(named, names, `${what}: ${option} names the operation`)
  }
}

/** With a misspelled variable, requests would go to the default server. */
function checkVariableNames(document: LoadedDocument, options: ApiToolsetOptions, what: string): void {
  const { serverVariables, baseUrl } = options
  if (serverVariables === undefined || baseUrl !== undefined) return
  checkKnown(Object.keys(serverVariables), [...document.serverVariables], `${what}: serverVariables names the variable`)
}

function checkKnown(names: readonly string[], known: readonly string[], what: string): void {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const [meant] = closestNames(unknown, known)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  throw new ToolwrightError('INVALID_CONFIG', `${what} "${unknown}", which the document does not have.${hint}`)
}
