// Which origins get credentials: that of the API, and those that the developer trusts. A document may name another server for
// each operation, and the author of a document must not get the credentials of its API.
import type { JsonObject } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import type { ApiOperation, ServerTemplate } from '../operation.ts'
import { type BaseUrlOptions, baseUrlOf } from '../request/base-url.ts'
import type { Security } from './choose-security.ts'
import { headerNeedOf } from './header-credentials.ts'

/** The origins that get credentials. */
export interface Origins {
  /** The origin of the API; undefined if the document does not say it. */
  readonly api: string | undefined
  /** Further origins. */
  readonly trusted: ReadonlySet<string>
}

/** What happens to the headers of the option `headers`. */
export type OwnHeaders =
  | { readonly type: 'sent' }
  /** The operation needs no credentials: it is sent without them. */
  | { readonly type: 'withheld' }
  /** The operation is sent without them, and fails if one of them is a credential. `names` are those that the document asks for. */
  | { readonly type: 'refused'; readonly names: readonly string[]; readonly problem: string }

/** The servers of a document. */
interface DocumentServers {
  readonly servers: readonly ServerTemplate[]
  readonly serverLists: readonly (readonly ServerTemplate[])[]
}

/**
 * The origin of the API is that of `baseUrl`, else of the first usable server of the whole document. A document without one has
 * an origin if the servers of all its operations share it.
 */
export function originsOf(
  { servers, serverLists }: DocumentServers,
  options: BaseUrlOptions & { readonly trustedOrigins?: readonly string[] | undefined },
): Origins {
  const originOf = (list: readonly ServerTemplate[]): string | undefined => {
    try {
      return baseUrlOf({ servers: list }, options, false).origin
    } catch {
      return undefined // the operations of this server are reported
    }
  }
  const trusted = new Set(options.trustedOrigins?.map((origin) => new URL(origin).origin))
  if (options.baseUrl !== undefined) return { api: originOf([]), trusted }
  for (const server of servers) {
    const api = originOf([server])
    if (api !== undefined) return { api, trusted }
  }
  const shared = new Set(serverLists.map(originOf))
  return { api: shared.size === 1 ? [...shared][0] : undefined, trusted }
}

/** What an operation sends to its server. */
interface Sent {
  /** The credentials that it sends. */
  readonly security: Security
  /** What happens to the headers of the option `headers`. */
  readonly ownHeaders: OwnHeaders
  /** For the operator: the end of a sentence about the operation. */
  readonly note?: string
}

/** What `withinOrigins` needs to know of an operation. */
interface Planned {
  readonly operation: ApiOperation
  readonly base: URL
  readonly security: Security
  readonly schemes: ReadonlyMap<string, JsonObject>
  readonly hasHeaders: boolean
}

/**
 * Takes the credentials and the headers of the developer from an operation whose server has another origin. An operation that
 * needs credentials then misses them.
 */
export function withinOrigins(planned: Planned, { api, trusted }: Origins): Sent {
  const { operation, base, security, schemes, hasHeaders } = planned
  const isTrusted = base.origin === api || trusted.has(base.origin)
  const hasCredentials = security.type === 'headers' || (security.type === 'usable' && security.configs.length > 0)
  if (isTrusted || security.type === 'missing' || !(hasCredentials || hasHeaders))
    return { security, ownHeaders: { type: 'sent' } }
  const { problem, note } = describe(base.origin, api)
  if (isPublic(operation, schemes))
    return { security: { type: 'usable', configs: [] }, ownHeaders: { type: 'withheld' }, note }
  if (hasCredentials) return { security: { type: 'missing', problem }, ownHeaders: { type: 'withheld' } }
  const needs = operation.security.flat().map(({ scheme }) => headerNeedOf(schemes.get(scheme)))
  const names = needs.flatMap((need) => need?.header ?? [])
  return { security, ownHeaders: { type: 'refused', names, problem }, note: `${note} ${IF_SECRET}` }
}

const IF_SECRET = 'Its calls fail if that option returns credentials.'

/** Does the document say that the operation needs no credentials? A document without security schemes says nothing. */
function isPublic({ security }: ApiOperation, schemes: ReadonlyMap<string, JsonObject>): boolean {
  return security.length === 0 ? schemes.size > 0 : security.some(({ length }) => length === 0)
}

function describe(origin: string, api: string | undefined): { readonly problem: string; readonly note: string } {
  const other = clip(origin, 100)
  const advice = `If you trust ${other}, add it to trustedOrigins. Otherwise set baseUrl.`
  const goes = `is sent to ${other}`
  const own = api === undefined ? undefined : clip(api, 100)
  const reason =
    own === undefined
      ? 'but the document names no server for the whole API, so its origin is unknown: no credentials are sent.'
      : `but credentials go only to the origin of the API, ${own}.`
  const kept = `${goes}, not to ${own ?? 'a known origin of the API'}: without credentials and without the option headers.`
  return { problem: `${goes}, ${reason} ${advice}`, note: `${kept} ${advice}` }
}
