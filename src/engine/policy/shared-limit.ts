// Limits over all processes with the same store. The store decides who is next, so that no user waits for all calls of another one.
import { ToolError, ToolwrightError } from '../../core/error/error.ts'
import type { HeldSlot } from '../../services/limit/slot-line.ts'
import { hostOf } from '../context/host-of.ts'
import type { Middleware, PolicyCall, Tool } from '../tool/tool.ts'
import { addMiddleware } from './add-middleware.ts'
import { checkKey } from './check-policy.ts'
import { noteTurn } from './note-turn.ts'

/** The policies that may be shared. */
type Policy = 'concurrency' | 'rateLimit'

/** A limit of calls, as its policy has checked it. */
interface SharedLimit {
  /** Calls at the same time, or starts in a period. */
  readonly max: number
  /** The length of the period. Undefined for calls at the same time. */
  readonly perMs?: number
  /** The group of a call. Undefined: all calls of the tool are one group. */
  readonly key: ((call: PolicyCall) => string) | undefined
}

/** The most characters of a key: the store must be able to index it. */
const MAX_KEY_LENGTH = 500

/** The shared limits of tools. */
const POLICIES = new WeakMap<Middleware, Policy>()

/** A tool whose calls run once they have a slot of the limit. A store that fails keeps the body from running. */
export function addSharedLimit<T extends Tool>(policy: Policy, tool: T, limit: SharedLimit): T {
  // each of several limits around one tool counts by itself: a call would wait for a slot that it has taken
  const inner = (tool.middleware ?? []).filter((one) => POLICIES.get(one) === policy).length
  const kind = inner === 0 ? policy : `${policy}-${inner + 1}`
  const middleware: Middleware = async (call, next) => {
    if (policy === 'rateLimit' && call.isResumed) return await next(call) // the call has already started
    const slot = await takeSlot({ policy, kind }, call, limit)
    try {
      return await next(call)
    } finally {
      await slot.release()
    }
  }
  POLICIES.set(middleware, policy)
  return addMiddleware(tool, middleware)
}

async function takeSlot(
  { policy, kind }: { readonly policy: Policy; readonly kind: string },
  call: PolicyCall,
  { max, perMs, key }: SharedLimit,
): Promise<HeldSlot> {
  const { tool, context } = call
  const host = hostOf(context)
  if (!host?.slots) throw new ToolError(`${policy}() of tool "${tool.name}" is shared, and needs a call of a Runner.`)
  const group = key ? checkKey(policy, tool, key(call)) : ''
  if (group.length > MAX_KEY_LENGTH)
    throw new ToolError(`${policy}() of tool "${tool.name}": key must return at most ${MAX_KEY_LENGTH} characters.`)
  const name = `${kind} ${tool.name} ${group}` // the name of a tool has no spaces
  try {
    return await noteTurn(context, policy, host.slots.waitFor({ name, max, perMs }, host, context.signal))
  } catch (error) {
    if (context.signal.aborted) throw error
    if (error instanceof ToolwrightError && error.code === 'INVALID_REQUEST')
      throw new ToolError(`${policy}() of tool "${tool.name}": key must return a shorter text. ${error.message}`)
    const problem = `The limit of tool "${tool.name}" could not be checked, so the call did not run. Try again later.`
    throw new ToolError(problem, { cause: error })
  }
}
