// The function names that show requests to a human, as ADK clients know them.
import type { RequestRecord } from './event.ts'

/** The prefix of names the framework reserves for its requests. No tool may have such a name. */
export const REQUEST_PREFIX = 'adk_request_'

/** The prefix of the ids of credential requests: an answer to one may hold a code. */
export const CREDENTIAL_ID_PREFIX = 'adk-auth-'

/** The prefix of the call ids of toolsets that need a credential before they list their tools. */
export const TOOLSET_CALL_PREFIX = '_adk_toolset_auth_'

/** The id under which a toolset requests its credential. One per scope, because each scope waits for itself. */
export function toolsetCallId(toolset: string, path: string): string {
  return path.includes('/') ? `${TOOLSET_CALL_PREFIX}${toolset}@${path}` : `${TOOLSET_CALL_PREFIX}${toolset}`
}

/** The name of the toolset in such an id. */
export function toolsetNameOf(callId: string, path: string): string {
  const name = callId.slice(TOOLSET_CALL_PREFIX.length)
  return name.endsWith(`@${path}`) ? name.slice(0, -path.length - 1) : name
}

/** The function name that shows a request of this kind, such as `adk_request_confirmation`. */
export const REQUEST_NAMES: { readonly [Kind in RequestRecord['kind']]: string } = {
  confirmation: `${REQUEST_PREFIX}confirmation`,
  input: `${REQUEST_PREFIX}input`,
  credential: `${REQUEST_PREFIX}credential`,
}
