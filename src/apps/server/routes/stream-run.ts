import type { Run } from '../../../engine/runner/run/run-handle.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { FollowOptions } from '../../../engine/runner/runner-options.ts'
import type { RequestContext, ServerParts } from '../env.ts'
import type { ServerOptions } from '../server-options.ts'
import { eventStream } from '../stream/event-stream.ts'
import { wireEvents } from '../wire/event-writer.ts'

/** Streams the events of a run that this request has started. A closed request cancels it, unless `whenClosed` is `detach`. */
export function streamRun(
  context: RequestContext,
  parts: ServerParts,
  run: Run,
  whenClosed: ServerOptions['onDisconnect'] = parts.options.onDisconnect,
): Promise<Response> {
  const onDisconnect = (): void => {
    if (whenClosed === 'detach') return
    run.cancel('The client closed the request.').catch((error) => parts.logger.warn('A run was not cancelled.', error))
  }
  return eventStream(context, parts, { frames: wireEvents(run), onDisconnect })
}

/** Streams what follows an event of a session. A closed request ends only this stream. */
export function streamFollowed(
  context: RequestContext,
  parts: ServerParts,
  { runner, userId, sessionId, afterEventId }: Omit<FollowOptions, 'signal'> & { readonly runner: Runner },
): Promise<Response> {
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  const run = runner.follow({ userId, sessionId, afterEventId, signal: controller.signal })
  return eventStream(context, parts, { frames: wireEvents(run), onDisconnect: stop, onStall: stop })
}
