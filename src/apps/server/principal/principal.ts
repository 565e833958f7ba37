import type { PendingRequest } from '../../../core/event/pending-request.ts'

/** Who sends a request. */
export interface Principal {
  /** The user. A user id in a path or a body must be this one. */
  readonly userId: string
  /** Accepts every user id in paths and bodies, and the routes for all users. For operators and local development. */
  readonly mayActAsAnyUser?: boolean | undefined
}

/** Finds out who sends a request. Undefined refuses the request with 401. */
export type Authenticate = (request: Request) => Principal | undefined | Promise<Principal | undefined>

/**
 * Decides whether a client may answer a pending request. Only `true` allows it. It is asked about an approval with edited arguments
 * twice: about the request, and about the same with the edited arguments in `args` and without `hint`.
 */
export type MayAnswer = (request: PendingRequest, principal: Principal) => boolean | Promise<boolean>
