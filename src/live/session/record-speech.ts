// Records what the user and the model said. Each function returns the events that the consumer sees of it.
import type { Part } from '../../content/content.ts'
import type { Event } from '../../event/event.ts'
import { type LiveLog, type LiveReply, textIn } from '../../runner/live/live-log.ts'
import type { LiveEvent } from '../../tool/live-event.ts'
import type { Spoken } from '../conversation/conversation.ts'

/** Records what the user said. */
export async function recordHeard(log: LiveLog, heard: string): Promise<LiveEvent[]> {
  if (heard === '') return []
  const event = await log.recordUser({ role: 'user', parts: [{ text: heard }] }, 'spoken')
  return [{ type: 'inputTranscript', text: heard, finished: true, event }]
}

/** Records what the model said until its turn ended, or the user interrupted it. */
export async function recordReply(
  log: LiveLog,
  { parts, reply }: Spoken,
  until: 'turn' | 'interruption',
): Promise<LiveEvent[]> {
  const mustRecord = parts.length > 0 || (until === 'turn' && log.isTurnOpen)
  const shown: LiveReply = until === 'turn' ? reply : { ...reply, interrupted: true }
  const event = mustRecord ? (await log.recordReply({ parts, reply: shown })).event : undefined
  const transcript = event ? transcriptOf(parts, reply, event) : []
  if (until === 'interruption') return transcript
  const { usageMetadata } = reply
  return [...transcript, { type: 'turnComplete', ...(usageMetadata && { usageMetadata }), ...(event && { event }) }]
}

/** Records what was said before the connection was lost or the session ended. No one hears the rest. */
export async function recordUnfinished(log: LiveLog, { heard, parts, reply }: Spoken): Promise<LiveEvent[]> {
  const events = await recordHeard(log, heard)
  if (parts.length > 0) await log.recordReply({ parts, reply: { ...reply, interrupted: true } })
  return events
}

/** The whole transcript of a spoken reply. */
export function transcriptOf(parts: readonly Part[], { transcribed }: LiveReply, event: Event): LiveEvent[] {
  const text = transcribed ? textIn(parts) : ''
  return text ? [{ type: 'outputTranscript', text, finished: true, event }] : []
}
