// What the user and the model say until it is recorded.
import type { JsonObject } from '../../../core/base/json.ts'
import type { Part } from '../../../core/content/content.ts'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import type { LiveReply } from '../../../engine/runner/live/live-log.ts'

/** What the model said, ready to be recorded. */
export interface SpokenReply {
  /** Text, transcripts and parts of server tools. */
  readonly parts: readonly Part[]
  /** What is known about them. */
  readonly reply: LiveReply
}

/** What the user and the model said, and is not recorded yet. */
export interface Speech {
  /** Who speaks. `interrupted`: the user interrupted the reply, and no other one has begun. */
  readonly at: 'listening' | 'replying' | 'interrupted'
  /** What the user said before the reply. */
  readonly heard: string
  /** What the user said since the reply began: the end of the message, or an interruption. */
  readonly heardSince: string
  /** What the model wrote. */
  readonly text: string
  /** What the model thought. */
  readonly thought: string
  /** The transcript of what the model says. */
  readonly spoken: string
  /** Parts of server tools, the newest first. */
  readonly parts: PartList | undefined
  /** The latest token counts. */
  readonly usage: JsonObject | undefined
  /** The latest sources. */
  readonly grounding: JsonObject | undefined
}

interface PartList {
  readonly part: Part
  readonly before: PartList | undefined
  /** The characters of this part and all before it. */
  readonly characters: number
}

/** Where what the user said ends: with the turn, at an interruption, or here. */
export type SpeechEnd = 'turn' | 'interruption' | 'here'

/** Most characters that are kept of one turn. A longer transcript loses its end. */
const MAX_CHARACTERS = 200_000
/** Most characters of other parts, such as pictures of the model, that are kept of one turn. */
const MAX_PART_CHARACTERS = 8 * 1024 * 1024

const NOTHING_SAID = {
  text: '',
  thought: '',
  spoken: '',
  parts: undefined,
  usage: undefined,
  grounding: undefined,
} as const

/** No one has said anything. */
export const SILENCE: Speech = { at: 'listening', heard: '', heardSince: '', ...NOTHING_SAID }

/** Adds what a message of the model says. */
export function addSpeech(speech: Speech, message: LiveServerMessage): Speech {
  switch (message.type) {
    case 'inputTranscript':
      if (speech.at === 'replying') return { ...speech, heardSince: joined(speech.heardSince, message.text) }
      return { ...speech, heard: joined(speech.heard, message.text) }
    case 'audio':
      return speech.at === 'replying' ? speech : { ...speech, at: 'replying' }
    case 'outputTranscript':
      return { ...speech, at: 'replying', spoken: joined(speech.spoken, message.text) }
    case 'text':
      if (message.thought) return { ...speech, at: 'replying', thought: joined(speech.thought, message.text) }
      return { ...speech, at: 'replying', text: joined(speech.text, message.text) }
    case 'part':
      return { ...speech, at: 'replying', parts: withPart(speech.parts, message.part) }
    case 'usage':
      return { ...speech, usage: message.usageMetadata }
    case 'grounding':
      return { ...speech, grounding: message.groundingMetadata }
    default:
      return speech
  }
}

function withPart(before: PartList | undefined, part: Part): PartList | undefined {
  if (part.functionCall || part.functionResponse) return before // a call in another message would pass no filter and no hook
  const characters = (before?.characters ?? 0) + JSON.stringify(part).length
  return characters <= MAX_PART_CHARACTERS ? { part, before, characters } : before
}

/** What the user said. At an interruption only what came before the reply: the rest starts the next message. */
export function heardIn({ at, heard, heardSince }: Speech, end: SpeechEnd): string {
  if (end === 'turn' && at === 'interrupted') return '' // the message goes on
  if (end === 'interruption') return at === 'replying' ? heard.trim() : ''
  return joined(heard, heardSince).trim()
}

/** The speech without the words of the user, which belong to an event now. */
export function withoutHeard(speech: Speech, end: SpeechEnd): Speech {
  const { at, heardSince } = speech
  if (end === 'turn' && at === 'interrupted') return { ...speech, at: 'listening' }
  if (end === 'interruption') return at === 'replying' ? { ...speech, heard: heardSince, heardSince: '' } : speech
  return { ...speech, heard: '', heardSince: '' }
}

const NO_REPLY: SpokenReply = {
  parts: [],
  reply: { transcribed: false, usageMetadata: undefined, groundingMetadata: undefined },
}

/** What the model said. */
export function replyIn({ thought, text, spoken, parts, usage, grounding }: Speech): SpokenReply {
  const shown = text || spoken
  if (!shown && !thought && !parts && !usage && !grounding) return NO_REPLY
  return {
    parts: [
      ...(thought ? [{ text: thought, thought: true }] : []),
      ...(parts ? finishedCode(inOrder(parts)) : []),
      ...(shown ? [{ text: shown }] : []),
    ],
    reply: {
      transcribed: text === '' && spoken !== '',
      usageMetadata: usage,
      groundingMetadata: grounding,
    },
  }
}

/** The speech without the words of the model, which belong to an event now. */
function withoutReply(speech: Speech): Speech {
  return { ...speech, ...NOTHING_SAID, at: speech.at === 'replying' ? 'listening' : speech.at }
}

/** The speech after an end: of the turn, at an interruption, or here. Words that are recorded are gone from it. */
export function endSpeech(speech: Speech, end: SpeechEnd): Speech {
  const left = withoutReply(withoutHeard(speech, end))
  return end === 'interruption' ? { ...left, at: 'interrupted' } : left
}

function inOrder(newest: PartList | undefined): Part[] {
  const parts: Part[] = []
  for (let one = newest; one; one = one.before) parts.push(one.part)
  return parts.reverse()
}

function joined(before: string, delta: string): string {
  return before + delta.slice(0, MAX_CHARACTERS - before.length)
}

/** Code of a server tool, if its result has arrived too. Code without a result would count as code to run. */
function finishedCode(parts: readonly Part[]): readonly Part[] {
  const hasResults = parts.filter((part) => part.codeExecutionResult).length
  const codes = parts.filter((part) => part.executableCode).length
  return hasResults === codes ? parts : parts.filter((part) => !part.executableCode && !part.codeExecutionResult)
}
