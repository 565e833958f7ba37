// The confirmation gate: a call that needs a human's yes does not run without one.
import { copyJson, isRecord, type JsonObject } from '../base/json.ts'
import { isPlainJson, isPlainObject } from '../policy/plain.ts'
import { readonlyContext } from '../tool/invocation.ts'
import type { Batch } from './host.ts'
import { failure, type Ready, type Result } from './outcome.ts'

/** Undefined lets the call through. Asking is not possible yet, so a call that needs an answer is refused. */
export async function confirm(batch: Batch, ready: Ready): Promise<Result | undefined> {
  if (!(await needsConfirmation(batch, ready))) return undefined
  return failure(
    ready.call,
    'CANCELLED',
    `Tool "${ready.call.name}" needs confirmation and nobody can be asked; it was not run.`,
  )
}

/** Anything but a clear `false` means yes: a predicate that throws or answers nonsense must not open the gate. */
async function needsConfirmation({ host, agentName, scope }: Batch, { entry, args }: Ready): Promise<boolean> {
  const { requiresConfirmation } = entry.tool
  if (typeof requiresConfirmation !== 'function') return Boolean(requiresConfirmation)
  try {
    const given = ownCopy(args) as JsonObject
    const context = readonlyContext(host, agentName, scope.branch)
    return (await requiresConfirmation.call(entry.tool, given, context)) !== false
  } catch {
    return true
  }
}

/** As deep as it can be: what a schema made of the arguments (dates, maps) may be more than JSON. */
function ownCopy(args: unknown): unknown {
  if (isPlainJson(args)) return copyJson(args)
  return isRecord(args) && isPlainObject(args) ? { ...args } : args
}
