// Converts the events of the provider to messages. Unknown events and malformed members are ignored.
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { hideSecrets } from '../../../core/error/hide-secrets.ts'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import { decodeBase64 } from './audio.ts'
import { type FinishState, finishResponse, readCall } from './finish-response.ts'
import { readSessionState, type SessionState } from './session-state.ts'

/** What the reader knows of the conversation. */
export interface ReaderState extends FinishState {
  /** Text that arrived in deltas, by item and content index. */
  readonly texts: Map<string, string>
  /** The settings of the session. */
  session: SessionState
}

type Reader = (event: JsonObject, state: ReaderState) => LiveServerMessage[]

/** The messages of an event. */
export function readEvent(event: JsonObject, state: ReaderState): LiveServerMessage[] {
  return READERS.get(textOf(event.type))?.(event, state) ?? []
}

/** The text, or no text for other values: converting a malformed value to text may throw. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Message and code of an `error` event, without secrets. */
export function readError(event: JsonObject): { readonly message: string; readonly code: string | undefined } {
  const error = isRecord(event.error) ? event.error : {}
  const text = typeof error.message === 'string' ? error.message : 'OpenAI reported an error without a message.'
  const code = [error.code, error.type].find((one) => typeof one === 'string')
  return { message: hideSecrets(text), code: code as string | undefined } // `find` returns a string or nothing
}

const readSession: Reader = ({ session }, state) => {
  state.session = readSessionState(session)
  return []
}

const readAdded: Reader = ({ item }, { replies }) => {
  if (isRecord(item) && typeof item.id === 'string') replies.itemAdded(item.id)
  return []
}

const readCreated: Reader = ({ response }, state) => {
  state.replies.started(isRecord(response) ? textOf(response.id) : '')
  return []
}

const readAudio: Reader = (event, state) => {
  const data = typeof event.delta === 'string' && isHeard(event, state) ? decodeBase64(event.delta) : undefined
  return data?.length ? [{ type: 'audio', data, mimeType: state.session.outputMimeType }] : []
}

/** Reads deltas and their end. The end has the whole text; its message has only what no delta had. */
function readDelta(toMessage: (text: string, finished: boolean) => LiveServerMessage): Reader {
  return (event, state) => {
    const part = `${textOf(event.item_id)}:${typeof event.content_index === 'number' ? event.content_index : 0}`
    const before = state.texts.get(part) ?? ''
    if (typeof event.delta === 'string') {
      state.texts.set(part, before + event.delta)
      return event.delta !== '' && isHeard(event, state) ? [toMessage(event.delta, false)] : []
    }
    const whole = event.transcript ?? event.text
    if (typeof whole !== 'string') return []
    state.texts.delete(part)
    const isWhole = whole.startsWith(before) && isHeard(event, state)
    return [toMessage(isWhole ? whole.slice(before.length) : '', true)]
  }
}

/** Is the event not of the response that the user interrupted? */
function isHeard({ response_id }: JsonObject, { interruptedId }: ReaderState): boolean {
  return interruptedId === undefined || response_id !== interruptedId
}

const readOutput = readDelta((text, finished) => ({ type: 'outputTranscript', text, ...(finished && { finished }) }))
const readInput = readDelta((text, finished) => ({ type: 'inputTranscript', text, ...(finished && { finished }) }))
const readDeltaText = readDelta((text) => ({ type: 'text', text }))
const readText: Reader = (event, state) =>
  readDeltaText(event, state).filter((message) => message.type === 'text' && message.text !== '')

const readItem: Reader = (event, state) => {
  const call = readCall(event.item, textOf(event.response_id), state)
  return call ? [{ type: 'toolCall', calls: [call] }] : []
}

const readSpeech: Reader = (_event, state) => {
  const { replies, session } = state
  const { activeId } = replies
  if (session.repliesToSpeech) replies.userSpeaks()
  if (activeId === undefined || !session.stopsForSpeech || state.interruptedId === activeId)
    return [{ type: 'activity', state: 'start' }]
  state.interruptedId = activeId
  return [{ type: 'activity', state: 'start' }, { type: 'interrupted' }]
}

const readFailure: Reader = (event, { replies }) => {
  const error = isRecord(event.error) ? event.error : {}
  if (replies.refused(error.code, error.event_id)) return []
  const { message, code } = readError(event)
  return [{ type: 'error', message, ...(code !== undefined && { code }) }]
}

const readFailedTranscript: Reader = (event) => {
  const { message, code } = readError(event)
  return [{ type: 'error', message: `The user's audio was not transcribed: ${message}`, ...(code && { code }) }]
}

/** By the type of the event. */
const READERS: ReadonlyMap<string, Reader> = new Map([
  ['session.created', readSession],
  ['session.updated', readSession],
  ['conversation.item.added', readAdded],
  ['conversation.item.created', readAdded],
  ['response.created', readCreated],
  ['response.output_audio.delta', readAudio],
  ['response.output_audio_transcript.delta', readOutput],
  ['response.output_audio_transcript.done', readOutput],
  ['response.output_text.delta', readText],
  ['response.output_text.done', readText],
  ['conversation.item.input_audio_transcription.delta', readInput],
  ['conversation.item.input_audio_transcription.completed', readInput],
  ['conversation.item.input_audio_transcription.failed', readFailedTranscript],
  ['response.output_item.done', readItem],
  ['response.done', finishResponse],
  ['input_audio_buffer.speech_started', readSpeech],
  ['input_audio_buffer.speech_stopped', () => [{ type: 'activity', state: 'end' }]],
  ['error', readFailure],
])
