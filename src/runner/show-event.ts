import type { Event } from '../event/event.ts'
import { RunCallbackContext } from '../tool/callback-context.ts'
import type { InvocationHost } from '../tool/host.ts'
import type { Plugin } from './plugin.ts'

/** The event as plugins leave it: they may change what it says, not what it is. */
export async function showEvent(plugins: readonly Plugin[], host: InvocationHost, event: Event): Promise<Event> {
  const context = new RunCallbackContext(host, event.author, event.branch)
  let shown = event
  for (const plugin of plugins) shown = (await plugin.onEvent?.({ event: shown, context })) ?? shown
  if (shown === event) return event
  const { id, invocationId, author, timestamp, nodeInfo, branch, isolationScope, partial } = event
  const { nodeInfo: _, branch: __, isolationScope: ___, partial: ____, ...says } = shown
  return {
    ...says,
    actions: shown.actions ?? event.actions,
    id,
    invocationId,
    author,
    timestamp,
    ...(nodeInfo && { nodeInfo }),
    ...(branch !== undefined && { branch }),
    ...(isolationScope !== undefined && { isolationScope }),
    ...(partial && { partial }),
  }
}
