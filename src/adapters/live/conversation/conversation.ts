// The conversation with a live model, as far as it follows from facts alone: what is known after a fact, and what the session does
// about it.
import type { LiveEvent } from '../../../engine/model/live-event.ts'
import type { LiveClientMessage, LiveServerMessage, LiveToolCall } from '../../../engine/model/live-model.ts'
import type { Fact } from './fact.ts'
import type { HeldResults } from './held.ts'
import {
  addTold,
  cover,
  endTurn,
  giveUp,
  isCovering,
  NOTHING_SINCE,
  readSent,
  resume,
  type SinceHandle,
} from './since-handle.ts'
import {
  addSpeech,
  endSpeech,
  heardIn,
  replyIn,
  SILENCE,
  type Speech,
  type SpeechEnd,
  type SpokenReply,
  withoutHeard,
} from './speech.ts'
import { NO_TURNS, QUIET, type Quiet, readUntil, reduceQuiet, reduceTurns, type Turns } from './turn.ts'

/** What is known of a conversation. */
export interface Conversation {
  /** Whose turn it is, and which replies are owed. */
  readonly turns: Turns
  /** What a connection that resumes must be told. */
  readonly since: SinceHandle
  /** What was said and is not recorded yet. */
  readonly speech: Speech
  /** How long no one has spoken. */
  readonly quiet: Quiet
  /** Results that wait until the model is idle. */
  readonly held: readonly HeldResults[]
  /** How many messages of the model had calls. A call has the number of its message as its place. */
  readonly place: number
  /** The place of the last call that the newest handle covers. */
  readonly coveredPlace: number
}

/** No one has said anything. */
export const NEW_CONVERSATION: Conversation = {
  turns: NO_TURNS,
  since: NOTHING_SINCE,
  speech: SILENCE,
  quiet: QUIET,
  held: [],
  place: 0,
  coveredPlace: 0,
}

/** What is known after a fact. */
export function reduce(before: Conversation, fact: Fact): Conversation {
  const until = readUntil(before.turns, fact)
  const known = until === undefined ? before.since : readSent(before.since, until)
  const turns = reduceTurns(before.turns, fact, until)
  const quiet = reduceQuiet(before.quiet, fact)
  const { speech, since } = reduceSaid({ speech: before.speech, since: known }, fact)
  const place = fact.type === 'received' && fact.message.type === 'toolCall' ? before.place + 1 : before.place
  const isCovered = fact.type === 'handle' && isCovering(before.since)
  const held = reduceHeld(before.held, fact)
  return { turns, since, speech, quiet, held, place, coveredPlace: isCovered ? place : before.coveredPlace }
}

function reduceHeld(held: Conversation['held'], fact: Fact): Conversation['held'] {
  switch (fact.type) {
    case 'held':
      return [...held, { contents: fact.contents, wants: fact.wants }]
    case 'released':
    case 'restarted': // the log told them
      return []
    default:
      return held
  }
}

type Said = Pick<Conversation, 'speech' | 'since'>

function reduceSaid(said: Said, fact: Fact): Said {
  const { speech, since } = said
  switch (fact.type) {
    case 'sent':
      return { speech, since: addTold(since, { type: 'sent', contents: fact.contents }, fact.at) }
    case 'responded':
      return { speech, since: addTold(since, { type: 'responded', response: fact.response }, fact.at) }
    case 'wrote':
      return { speech: withoutHeard(speech, 'here'), since: withHeard(said, 'here', fact.at) }
    case 'called': {
      const ended = endSaid(said, 'here', fact.at)
      return {
        ...ended,
        since: fact.calls.reduce((all, call) => addTold(all, { type: 'called', call }, fact.at), ended.since),
      }
    }
    case 'received':
      return receive(said, fact)
    case 'handle':
      return { speech, since: cover(since) }
    case 'lost': // the reply is recorded, but the model will reply again
      return { speech: endSpeech(speech, 'here'), since: withHeard(said, 'here', fact.at) }
    case 'resumed':
      return { speech, since: resume(since, fact.at) }
    case 'restarted':
      return { speech, since: { ...NOTHING_SINCE, toldAt: fact.told === 'log' ? fact.at : undefined } }
    default:
      return said
  }
}

function receive({ speech, since }: Said, { message, at }: Fact & { type: 'received' }): Said {
  const said = { speech: addSpeech(speech, message), since }
  switch (message.type) {
    case 'interrupted':
      return endSaid(said, 'interruption', at)
    case 'turnComplete':
      return endSaid({ ...said, since: endTurn(since) }, 'turn', at)
    case 'toolCancelled':
      return { ...said, since: giveUp(since, message.ids) }
    default:
      return said
  }
}

/** What was said up to an end belongs to the conversation. */
function endSaid(said: Said, end: SpeechEnd, at: number): Said {
  const since = withHeard(said, end, at)
  const { parts } = replyIn(said.speech)
  return {
    speech: endSpeech(said.speech, end),
    since: parts.length > 0 ? addTold(since, { type: 'said', content: { role: 'model', parts } }, at) : since,
  }
}

function withHeard({ speech, since }: Said, end: SpeechEnd, at: number): SinceHandle {
  const text = heardIn(speech, end)
  return text === '' ? since : addTold(since, { type: 'said', content: { role: 'user', parts: [{ text }] } }, at)
}

/** The facts in a message that this side sends. Audio and video are none: the model says what it has heard. */
export function factsIn(message: LiveClientMessage, at: number): Fact[] {
  switch (message.type) {
    case 'text':
      return [{ type: 'sent', at, contents: [{ role: 'user', parts: [{ text: message.text }] }], wants: 'reply' }]
    case 'content': {
      const { contents, turnComplete } = message
      return [{ type: 'sent', at, contents, wants: turnComplete ? 'reply' : 'nothing' }]
    }
    case 'toolResponses':
      return message.responses.map((response) => ({ type: 'responded', at, response }))
    case 'activity':
      return [{ type: 'activity', at, state: message.state }]
    default:
      return []
  }
}

/** What was said up to an end. */
export interface Spoken extends SpokenReply {
  /** What the user said. Empty if nothing was heard. */
  readonly heard: string
}

/** One thing that a session does about a fact. It performs the commands of a fact in their order, without waiting in between. */
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
