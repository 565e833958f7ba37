import type { JsonObject } from '../../base/json.ts'
import { scopeOfKey } from '../../base/key-scope.ts'
import { ToolwrightError } from '../../error/error.ts'
import type { RequestContext } from '../env.ts'

/** Throws FORBIDDEN if a client changes `app:` state, which all users share, without the right to act as any user. */
export function checkSharedState(context: RequestContext, stateDelta: JsonObject | undefined): void {
  if (!stateDelta || context.get('principal').mayActAsAnyUser) return
  const shared = Object.keys(stateDelta).find((key) => scopeOfKey(key) === 'app')
  if (shared === undefined) return
  throw new ToolwrightError('FORBIDDEN', `You may not change "${shared}": all users of the app share it.`)
}
