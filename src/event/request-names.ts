// The function names that show requests to a human, as ADK clients know them.
import type { Request } from './event.ts'

/** The prefix of names the framework reserves for its requests. No tool may have such a name. */
export const REQUEST_PREFIX = 'adk_request_'

/** The prefix of the ids of credential requests: an answer to one may hold a code. */
export const CREDENTIAL_ID_PREFIX = 'adk-auth-'

/** The function name that shows a request of this kind, such as `adk_request_confirmation`. */
export const REQUEST_NAMES: { readonly [Kind in Request['kind']]: string } = {
  confirmation: `${REQUEST_PREFIX}confirmation`,
  input: `${REQUEST_PREFIX}input`,
  credential: `${REQUEST_PREFIX}credential`,
}
