// What a session does about a fact. The session performs the commands in this order, without waiting in between.
import type { LiveEvent } from '../../tool/live-event.ts'
import type { LiveServerMessage, LiveToolCall } from '../../tool/live-model.ts'
import type { Conversation } from './conversation.ts'
import type { Fact } from './fact.ts'
import { heardIn, replyIn, type SpeechEnd, type SpokenReply } from './speech.ts'

/** What was said up to an end. */
export interface Spoken extends SpokenReply {
  /** What the user said. Empty if nothing was heard. */
  readonly heard: string
}

/** One thing to do. */
export type Command =
  /** Shows an event to the consumer, in order. */
  | { readonly type: 'show'; readonly event: LiveEvent }
  /** Records what was said. `turn`: the model has ended its turn. `lost`: the connection is gone, and no one hears the rest. */
  | { readonly type: 'record'; readonly spoken: Spoken; readonly until: 'turn' | 'interruption' | 'lost' }
  /** Records the calls that are new, with what was said before them, and runs them. */
  | { readonly type: 'dispatch'; readonly calls: readonly LiveToolCall[] }
  /** Cancels calls that the model no longer needs. */
  | { readonly type: 'cancel'; readonly ids: readonly string[] }
  /** Drops speech that the consumer has not heard yet. */
  | { readonly type: 'drop audio' }
  /** Moves on what waits for the end of a turn: phases, patterns and changed instructions. */
  | { readonly type: 'end turn' }
  /** Does what waits for an idle model. */
  | { readonly type: 'check idle' }

const NONE: readonly Command[] = []

/** What follows from a fact, and from what was known before it. */
export function commandsFor(before: Conversation, fact: Fact): readonly Command[] {
  switch (fact.type) {
    case 'received':
      return commandsForMessage(before, fact.message)
    case 'lost':
      return [{ type: 'record', spoken: spokenIn(before, 'here'), until: 'lost' }]
    default:
      return NONE
  }
}

function commandsForMessage(before: Conversation, message: LiveServerMessage): readonly Command[] {
  switch (message.type) {
    case 'inputTranscript':
    case 'outputTranscript':
      // the whole transcript is shown with `finished` when it is recorded
      return message.text === '' ? NONE : [{ type: 'show', event: { type: message.type, text: message.text } }]
    case 'audio':
    case 'text':
    case 'activity':
      return [{ type: 'show', event: message }]
    case 'toolCall':
      return [{ type: 'dispatch', calls: message.calls }]
    case 'toolCancelled':
      return [{ type: 'cancel', ids: message.ids }]
    case 'interrupted':
      return [
        { type: 'drop audio' },
        { type: 'record', spoken: spokenIn(before, 'interruption'), until: 'interruption' },
        { type: 'show', event: { type: 'interrupted' } },
        { type: 'check idle' },
      ]
    case 'turnComplete':
      return [{ type: 'record', spoken: spokenIn(before, 'turn'), until: 'turn' }, { type: 'end turn' }]
    case 'error':
      return [{ type: 'show', event: { type: 'error', errorCode: 'MODEL_ERROR', message: message.message } }]
    default:
      return NONE // nothing to show
  }
}

/** What was said up to here, and is not recorded yet. */
export function spokenIn({ speech }: Pick<Conversation, 'speech'>, end: SpeechEnd): Spoken {
  return { heard: heardIn(speech, end), ...replyIn(speech) }
}
