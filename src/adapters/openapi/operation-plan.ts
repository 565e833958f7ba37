import type { Effect } from '../../engine/tool/tool.ts'
import type { ApiOperation } from './operation.ts'
import type { Security } from './security/choose-security.ts'
import type { OwnHeaders } from './security/origins.ts'
import type { ApiToolsetOptions } from './toolset-options.ts'

/** Everything that is decided about an operation before it is called. */
export interface OperationPlan {
  /** The operation. */
  readonly operation: ApiOperation
  /** The address of its server. */
  readonly base: URL
  /** The credentials it needs. */
  readonly security: Security
  /** What happens to the headers of the option `headers`. */
  readonly ownHeaders: OwnHeaders
  /** Its side effects. */
  readonly effect: Effect
  /** The header for the idempotency key; undefined if the API supports none. */
  readonly idempotencyHeader: string | undefined
  /** The options of the toolset. */
  readonly options: ApiToolsetOptions
}
