// The conversation with a live model, as far as it follows from facts alone: a pure `reduce`, and questions about its result.
import type { Content } from '../../content/content.ts'
import type { LiveClientMessage } from '../../tool/live-model.ts'
import type { Fact, Wanted } from './fact.ts'
import type { HeldResults } from './held.ts'
import { QUIET, type Quiet, reduceQuiet } from './quiet.ts'
import { seedContents, toldMessage } from './seed.ts'
import {
  addTold,
  canResume,
  cover,
  endTurn,
  giveUp,
  isCovering,
  messagesFor,
  NOTHING_SINCE,
  readSent,
  resume,
  type SinceHandle,
} from './since-handle.ts'
import { addSpeech, endSpeech, heardIn, replyIn, SILENCE, type Speech, type SpeechEnd, withoutHeard } from './speech.ts'
import { NO_TURNS, owesReply, readUntil, reduceTurns, type Turns } from './turn.ts'

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

/** What the session knows besides the conversation when it introduces a connection. */
export interface Introduction {
  /** When. */
  readonly at: number
  /** What the connection knows: what the newest handle covers, or nothing. */
  readonly knows: 'handle' | 'nothing'
  /** What the model must do: it cannot reply while it waits for a call. */
  readonly can: Wanted
  /** The calls without a result. */
  isRunning(callId: string): boolean
  /** The whole conversation, as the log has it. */
  history(): readonly Content[]
}

/** What a new connection must be told, and the fact that it was told so. */
export interface Told {
  /** The connection was told. */
  readonly fact: Fact
  /** What the session sends first. */
  readonly messages: readonly LiveClientMessage[]
}

/** Tells a new connection what it must know. Undefined if the handle no longer fits the conversation. */
export function introduce(conversation: Conversation, introduction: Introduction): Told | undefined {
  const { at, knows, can } = introduction
  const { since, turns, held } = conversation
  if (knows === 'handle' && !canResume(since)) return undefined // something happened while the connection was made
  const isResultDue = knows === 'nothing' && held.some(({ wants }) => wants === 'reply') // the log tells it
  const isOwed = (owesReply(turns) || isResultDue) && can === 'reply'
  const wants: Wanted = isOwed ? 'reply' : 'nothing'
  if (knows === 'handle')
    return { fact: { type: 'resumed', at, wants }, messages: messagesFor(resume(since, at), isOwed) }
  const contents = seedContents(introduction.history(), introduction.isRunning)
  if (contents.length === 0) return { fact: { type: 'restarted', at, told: 'nothing', wants }, messages: [] }
  return { fact: { type: 'restarted', at, told: 'log', wants }, messages: [toldMessage(contents, isOwed)] }
}
