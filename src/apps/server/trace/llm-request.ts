import type { Content } from '../../../core/content/content.ts'
import type { Event } from '../../../core/event/event.ts'

/** How many earlier messages a request shows, so that the trace of a long session stays small. */
const MAX_CONTENTS = 20

/**
 * What the model was asked for the reply at this index, as far as the events of the invocation show it: the latest messages of
 * the same agent scope. Instructions that functions compute are not recorded.
 */
export function requestOf(events: readonly Event[], at: number, model: string | undefined): object {
  const isolation = events[at]?.isolationScope
  const contents: Content[] = []
  for (let index = at - 1; index >= 0 && contents.length < MAX_CONTENTS; index--) {
    const { content, isolationScope } = events[index] as Event
    if (content && isolationScope === isolation) contents.unshift(content)
  }
  return { ...(model !== undefined && { model }), contents, config: {} }
}
