// Which state clients may write. A gate or a phase that reads state trusts it, so a client must not write what they read.
import type { JsonObject } from '../../../core/base/json.ts'
import { isDerivedKey, scopeOfKey, withoutScope } from '../../../core/base/key-scope.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import type { ClientStateOptions } from '../server-options.ts'

/** Keys with this prefix, after that of their scope, are written by tools and by the program only. */
const TRUSTED_PREFIX = 'trusted:'

/**
 * Throws FORBIDDEN if a client writes or deletes a key that `clientState` does not leave to clients, or `app:` state, which all
 * users share, without the right to act as any user.
 */
export function checkClientState(context: RequestContext, parts: ServerParts, delta: JsonObject | undefined): void {
  for (const key of Object.keys(delta ?? {})) {
    if (scopeOfKey(key) === 'app' && !context.get('principal').mayActAsAnyUser)
      throw forbidden(key, 'all users of the app share it')
    if (isDerivedKey(withoutScope(key))) throw forbidden(key, 'the prefix "derived:" is for computed values')
    if (!isWritable(key, parts.options.clientState))
      throw forbidden(key, 'the server does not let clients write this key (option clientState)')
  }
}

/** The exact key in `allow` is the only way to open a trusted key; `deny` always wins. */
function isWritable(key: string, { allow, deny = [] }: ClientStateOptions = {}): boolean {
  if (deny.includes(key)) return false
  if (allow) return allow.includes(key)
  return !withoutScope(key).startsWith(TRUSTED_PREFIX)
}

function forbidden(key: string, reason: string): ToolwrightError {
  return new ToolwrightError('FORBIDDEN', `You may not change "${key}": ${reason}.`)
}
