import type { RequestContext, ServerParts } from '../env.ts'
import { findSessionState, type SessionScope } from '../routes/scope.ts'
import { listResponse } from './list-response.ts'
import { eventSource } from './list-sources.ts'

/**
 * Responds with a session and its events, or with `?limit=&cursor=` a page of them. The text of the events is made in pieces.
 * `endsEarly`: a session that is too large gets its first page, because the request has changed it.
 */
export async function sessionResponse(
  context: RequestContext,
  parts: Pick<ServerParts, 'limits'>,
  scope: SessionScope,
  { endsEarly = false }: { readonly endsEarly?: boolean } = {},
): Promise<Response> {
  const { events: _, ...session } = await findSessionState(scope)
  const head = JSON.stringify(session).slice(0, -1)
  const source = eventSource(scope.app.runner.sessionService, scope.key)
  return await listResponse(context, parts, {
    name: 'events',
    source,
    endsEarly,
    wrap: (events) => `${head},"events":${events}}`,
  })
}
