import { encodeBase64 } from '../../../core/base/base64.ts'
import { newId } from '../../../core/base/new-id.ts'
import type { Event } from '../../../core/event/event.ts'
import type { LiveEvent } from '../../../engine/model/live-event.ts'
import { EventWriter } from '../wire/event-writer.ts'
import { writeEvent } from '../wire/write-event.ts'

/** Writes the events of a live session as frames. */
interface FrameWriter {
  /** The frames of an event: none, one or more. */
  write(event: LiveEvent): readonly object[]
}

/** Our own events, with audio in base64. The recorded event has its ADK form. */
export const liveFrames: FrameWriter = {
  write: (live) => {
    const { event, ...rest } = live
    const recorded = event && { event: writeEvent(event) }
    if (rest.type !== 'audio') return [{ ...rest, ...recorded }]
    return [{ ...rest, data: encodeBase64(rest.data), ...recorded }]
  },
}

/** Of whom synthetic events speak. */
interface FrameAuthor {
  /** The agent of the app. */
  readonly agent: string
  /** The invocation of the session. */
  readonly invocationId: string
}

/** Several steps of a session show the same recorded event. An ADK client gets it once. */
const MAX_REMEMBERED = 100

/** Events as ADK clients read them: what is recorded, and partial events for what is said meanwhile. */
export class AdkFrames implements FrameWriter {
  readonly #author: FrameAuthor
  readonly #writer = new EventWriter()
  readonly #sent = new Set<string>()

  /** `author` is the author of the partial events. */
  constructor(author: FrameAuthor) {
    this.#author = author
  }

  /** The frames of an event of the session. */
  write(live: LiveEvent): readonly object[] {
    const recorded = live.event ? this.writeRecorded(live.event) : []
    const partial = partialOf(live)
    if (!partial) return recorded
    const { agent, invocationId } = this.#author
    const base = { id: newId(), invocationId, author: agent, timestamp: Date.now() / 1000, partial: true }
    const event: Event = { ...base, ...partial, actions: {} }
    return [...recorded, ...this.#writer.write(event)]
  }

  /** A recorded event, unless it was sent before. */
  writeRecorded(event: Event): readonly object[] {
    if (this.#sent.has(event.id)) return []
    this.#sent.add(event.id)
    const [oldest] = this.#sent
    if (this.#sent.size > MAX_REMEMBERED && oldest !== undefined) this.#sent.delete(oldest)
    return this.#writer.write(event)
  }
}

/** What an ADK client sees of a step that is not recorded, or not yet. */
function partialOf(live: LiveEvent): Partial<Event> | undefined {
  switch (live.type) {
    case 'audio': {
      const inlineData = { mimeType: live.mimeType, data: encodeBase64(live.data) }
      return { content: { role: 'model', parts: [{ inlineData }] } }
    }
    case 'text':
      return { content: { role: 'model', parts: [{ text: live.text, ...(live.thought && { thought: true }) }] } }
    case 'inputTranscript':
      return live.finished ? undefined : { inputTranscription: { text: live.text, finished: false } }
    case 'outputTranscript':
      return live.finished ? undefined : { outputTranscription: { text: live.text, finished: false } }
    case 'toolProgress': {
      const { id, name, value } = live
      return {
        content: {
          role: 'user',
          parts: [{ functionResponse: { id, name, response: { progress: value }, willContinue: true } }],
        },
      }
    }
    case 'interrupted':
      return { interrupted: true }
    case 'turnComplete':
      return live.event?.turnComplete ? undefined : { turnComplete: true }
    case 'error':
      return { errorCode: live.errorCode, errorMessage: live.message }
    default:
      return undefined // ADK has no event for it
  }
}
