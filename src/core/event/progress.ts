import type { Event } from './event.ts'

/** The progress of a call in a partial event; undefined if the event is no progress. */
export function progressIn({ partial, content }: Event): Progress | undefined {
  const response = partial ? content?.parts[0]?.functionResponse : undefined
  if (!response || !Object.hasOwn(response.response, 'progress')) return undefined
  return { callId: response.id ?? '', name: response.name, value: response.response.progress }
}

/** What a tool reports while it runs. */
interface Progress {
  /** The call. */
  readonly callId: string
  /** The tool. */
  readonly name: string
  /** What it reports. */
  readonly value: unknown
}
