import type { LiveServerMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import type { ScriptedLiveReply } from '../scripted-live-script.ts'

const AUDIO_TYPE = 'audio/pcm;rate=24000'

/** The messages of a reply, in order. `calls` are the calls of the reply with their ids. */
export function replyMessages(reply: ScriptedLiveReply, calls: readonly LiveToolCall[]): LiveServerMessage[] {
  const { heard, text, audio, transcript, messages = [], goAway, drop } = reply
  const has = (type: LiveServerMessage['type']): boolean => messages.some((message) => message.type === type)
  const isComplete = calls.length === 0 && !drop && !has('turnComplete')
  return [
    ...(heard === undefined ? [] : [{ type: 'inputTranscript', text: heard, finished: true } as const]),
    ...(text === undefined ? [] : [{ type: 'text', text } as const]),
    ...(audio === undefined ? [] : [toAudio(audio)]),
    ...(transcript === undefined ? [] : [{ type: 'outputTranscript', text: transcript, finished: true } as const]),
    ...messages,
    ...(calls.length === 0 ? [] : [{ type: 'toolCall', calls } as const]),
    ...(goAway === undefined ? [] : [{ type: 'goAway', timeLeftMs: goAway } as const]),
    ...(isComplete && !has('interrupted') && !has('generationComplete')
      ? [{ type: 'generationComplete' } as const]
      : []),
    ...(isComplete ? [{ type: 'turnComplete' } as const] : []),
  ]
}

function toAudio(audio: NonNullable<ScriptedLiveReply['audio']>): LiveServerMessage {
  return audio instanceof Uint8Array
    ? { type: 'audio', data: audio, mimeType: AUDIO_TYPE }
    : { type: 'audio', ...audio }
}
