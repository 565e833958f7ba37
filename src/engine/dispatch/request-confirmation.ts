// Decides whether a call needs a confirmation, and builds the request for one.
import { copyJson, isRecord, type JsonObject } from '../../core/base/json.ts'
import { clip } from '../../core/base/limits.ts'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { messageOf } from '../../core/error/error.ts'
import { readonlyContext } from '../context/readonly-context.ts'
import { isPlainJson } from '../policy/plain-json.ts'
import type { Tool } from '../tool/tool.ts'
import type { Batch, Logger } from './host.ts'
import type { NewRequest, ReadyCall, RequestingCall } from './outcome.ts'
import { reportThrown } from './report-thrown.ts'
import { gateOf } from './resolve.ts'

/**
 * How long `requiresConfirmation` may take, in milliseconds. After it, the call needs a confirmation. The question about edited
 * arguments has the same deadline.
 */
export const GATE_MS = 5_000

/**
 * Does the call need a confirmation? Only `false` means no: a predicate that throws, hangs or returns another value
 * requires a confirmation.
 */
export async function needsConfirmation(batch: Batch, ready: ReadyCall): Promise<boolean> {
  const { host, agentName, scope } = batch
  const { tool } = ready.entry
  const requiresConfirmation = gateOf(ready.entry)
  if (typeof requiresConfirmation !== 'function') return Boolean(requiresConfirmation)
  try {
    const given = (await ownCopy(ready)) as JsonObject
    const context = readonlyContext(host, agentName, scope.branch)
    const answer = Promise.resolve(requiresConfirmation.call(tool, given, context))
    return (await withTimeout(answer, GATE_MS, host.services.ports, () => undefined)) !== false
  } catch (error) {
    reportThrown(host, error, { call: ready.call, step: 'requiresConfirmation', hidesMessage: true })
    return true
  }
}

/** What the approver is asked to approve. */
interface Shown {
  readonly definition: string
  readonly args: JsonObject
  /** Why an earlier approval is no longer valid. */
  readonly notice?: string
}

/** A call that requests a confirmation of the definition and the arguments. */
export async function requestConfirmation(
  batch: Batch,
  ready: ReadyCall,
  { definition, args, notice = '' }: Shown,
): Promise<RequestingCall> {
  const { call, entry } = ready
  const { allowEditedArgs } = entry.tool
  const schema = allowEditedArgs ? entry.declaration?.parametersJsonSchema : undefined
  const request: NewRequest = {
    kind: 'confirmation',
    origin: 'gate',
    args,
    definition,
    hint: notice + (await hintOf(batch, ready)),
    ...(allowEditedArgs && { editable: true }),
    ...(isRecord(schema) && { schema }),
  }
  return { type: 'requesting', call, requests: [request] }
}

/** The question about the arguments of the call. */
export async function hintOf({ host }: Batch, ready: ReadyCall): Promise<string> {
  return callHint(ready.entry.tool, () => ownCopy(ready), host.services.logger)
}

/** The question about a call whose tool has no `confirmationHint`, or one that failed. */
export function defaultHint(tool: string): string {
  return `Approve execution of tool \`${tool}\`?`
}

/** The question that the tool asks about these arguments. */
export async function callHint(tool: Tool, copyArgs: () => Promise<unknown>, logger: Logger): Promise<string> {
  try {
    const hint: unknown = tool.confirmationHint?.((await copyArgs()) as JsonObject)
    if (typeof hint === 'string' && hint !== '') return clip(hint)
    if (hint instanceof Promise) hint.catch(() => {}) // hints are synchronous: a promise is ignored
  } catch (error) {
    const problem = `confirmationHint of tool "${tool.name}" failed: ${messageOf(error)}. The default hint is used.`
    logger.warn(problem, error)
  }
  return defaultHint(tool.name)
}

/** A copy of the arguments. Values a schema created (dates, maps) cannot be copied, so the arguments are parsed again. */
async function ownCopy({ call, entry, args, rewritten }: ReadyCall): Promise<unknown> {
  if (isPlainJson(args)) return copyJson(args)
  const parsed = await entry.parse(copyJson(rewritten ?? call.args))
  return parsed.issues ? {} : parsed.value
}
