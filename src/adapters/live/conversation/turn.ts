// Whose turn is it, which replies does the model owe, and how long has no one spoken? A reply answers what the model had read when it
// began, so that one reply may answer several messages.
import { type FunctionResponse, stageOf } from '../../../core/content/content.ts'
import type { LiveServerMessage } from '../../../engine/model/live-model.ts'
import type { Fact } from './fact.ts'

/** The turn of the model. */
export type Turn =
  | { readonly at: 'idle' }
  /** The user interrupted the turn, whose end follows. */
  | { readonly at: 'interrupted' }
  | {
      readonly at: 'replying'
      /** It waits for the results of its calls, speaks, or has said everything it wanted to say in this turn. */
      readonly part: 'calling' | 'speaking' | 'whole'
      /** Send time of the newest of several messages we assume the reply covers. If the reply is interrupted, it did not. */
      readonly doubtful: number | undefined
      /** When the user was heard in this turn: late words about what it replies to, or the words that interrupt it. */
      readonly heardAt: number | undefined
    }

/** Why the model owes a reply, and since when. */
export interface Cause {
  /** When it was sent or heard. */
  readonly at: number
  /** A `result` is one that the model waits for before it speaks again. A `lost reply` was owed on an earlier connection. */
  readonly of: 'message' | 'result' | 'speech' | 'lost reply'
}

/** Whose turn it is. */
export interface Turns {
  /** The turn of the model. */
  readonly turn: Turn
  /** What the model has not begun to reply to. */
  readonly causes: readonly Cause[]
  /** Has the user spoken since a reply began? There may be nothing to reply to, such as a cough. */
  readonly speech: 'none' | 'unanswered'
}

const IDLE: Turn = { at: 'idle' }

/** No one has said anything. */
export const NO_TURNS: Turns = { turn: IDLE, causes: [], speech: 'none' }

/**
 * A reply that begins sooner after a message was begun before the model had the message: messages cross on the network, and no
 * model replies this fast. In milliseconds.
 */
const CROSSING_MS = 200

/** Does the model owe a reply, or the rest of one? */
export function owesReply({ causes, turn }: Turns): boolean {
  return causes.length > 0 || turn.at === 'replying'
}

/** Does anyone speak, or wait for a reply? */
export function isBusy(turns: Turns): boolean {
  return owesReply(turns) || turns.speech === 'unanswered'
}

/** Is the reply there, and only its end is missing? */
export function isReplyWhole({ turn }: Turns): boolean {
  return turn.at === 'replying' && turn.part === 'whole'
}

/** If a fact shows that the model has read what was sent: everything that was sent up to this time. */
export function readUntil({ turn, causes }: Turns, fact: Fact): number | undefined {
  if (fact.type !== 'received' || !beginsReply({ turn, causes }, fact.message)) return undefined
  const first = causes.find(({ of }) => of !== 'lost reply')
  // a reply to a result answers all results that the model waits for; one to a message may have crossed with a result
  const answered = first?.of === 'result' ? causes.findLast(({ of }) => of === 'result') : first
  return Math.max(answered?.at ?? 0, fact.at - CROSSING_MS)
}

function beginsReply({ turn, causes }: Pick<Turns, 'turn' | 'causes'>, { type }: LiveServerMessage): boolean {
  const isSpeaking = turn.at === 'replying' && turn.part !== 'calling'
  switch (type) {
    case 'text':
    case 'audio':
    case 'part':
    case 'toolCall':
      return !isSpeaking
    case 'outputTranscript': // a late one does not begin a turn
      return turn.at === 'replying' && !isSpeaking
    case 'turnComplete': // an empty reply, but not the end of words that the model began before it had a result
      return turn.at === 'replying' ? !isSpeaking && causes.some(({ of }) => of === 'result') : turn.at === 'idle'
    default:
      return false
  }
}

/** Whose turn it is after a fact. `until`: what the model has read by then. */
export function reduceTurns(turns: Turns, fact: Fact, until: number | undefined = readUntil(turns, fact)): Turns {
  switch (fact.type) {
    case 'sent':
      return fact.wants === 'reply' ? withCause(turns, { at: fact.at, of: 'message' }) : turns
    case 'responded': {
      const of = causeIn(fact.response)
      return of ? withCause(turns, { at: fact.at, of }) : turns
    }
    case 'activity':
      return { ...turns, speech: 'unanswered' }
    case 'received':
      return receive(until === undefined ? turns : begin(turns, until), fact)
    case 'lost':
      return { turn: IDLE, causes: owesReply(turns) ? [{ at: fact.at, of: 'lost reply' }] : [], speech: 'none' }
    case 'resumed':
    case 'restarted':
      return fact.wants === 'reply' ? { ...turns, causes: [{ at: fact.at, of: 'message' }] } : turns
    default:
      return turns
  }
}

/** What the model has to reply to in a response. Nothing in a handle or a silent result. */
function causeIn(response: FunctionResponse): Cause['of'] | undefined {
  const stage = stageOf(response)
  if (stage === 'only') return 'result'
  return stage === 'last' && response.scheduling !== 'SILENT' ? 'message' : undefined
}

function withCause(turns: Turns, cause: Cause): Turns {
  return { ...turns, causes: [...turns.causes, cause] }
}

function receive(turns: Turns, { message, at }: Fact & { type: 'received' }): Turns {
  const { turn } = turns
  switch (message.type) {
    case 'text':
    case 'audio':
    case 'part':
    case 'outputTranscript':
      if (turn.at !== 'replying' || turn.part !== 'calling') return turns
      return { ...turns, turn: { ...turn, part: 'speaking' } }
    case 'toolCall': // what follows is about the result
      return turn.at === 'replying' ? { ...turns, turn: { ...turn, part: 'calling' } } : turns
    case 'inputTranscript':
      return message.text.trim() === '' ? turns : hear(turns, at)
    case 'activity':
      return turns.speech === 'unanswered' ? turns : { ...turns, speech: 'unanswered' }
    case 'generationComplete':
      if (turn.at !== 'replying' || turn.part === 'calling') return turns
      return { ...turns, turn: { ...turn, part: 'whole' } }
    case 'interrupted':
      return interrupt(turns, at)
    case 'turnComplete':
      return { ...turns, turn: IDLE, causes: asMessages(turns.causes) }
    default:
      return turns
  }
}

/** The model begins to reply to everything it has read. */
function begin({ turn, causes }: Turns, until: number): Turns {
  const known = causes.filter(({ of }) => of !== 'lost reply')
  const read = known.filter(({ at }) => at <= until)
  const doubtful = read.length > 1 ? read.at(-1)?.at : undefined
  const heardAt = turn.at === 'replying' ? turn.heardAt : undefined
  return {
    turn: { at: 'replying', part: 'calling', doubtful, heardAt },
    causes: known.slice(read.length).map(({ at }) => ({ at, of: 'message' })),
    speech: 'none',
  }
}

function hear(turns: Turns, at: number): Turns {
  const { turn, causes } = turns
  if (turn.at === 'replying') return { ...turns, turn: { ...turn, heardAt: at } }
  return causes.some(({ of }) => of === 'speech') ? turns : withCause(turns, { at, of: 'speech' })
}

/** The model must reply to what it has not read, and to the words that interrupted it. */
function interrupt(turns: Turns, at: number): Turns {
  const { turn } = turns
  const { doubtful, heardAt } = turn.at === 'replying' ? turn : {}
  const unread: Cause[] = doubtful === undefined ? [] : [{ at: doubtful, of: 'message' }]
  const interrupted: Turns = {
    ...turns,
    turn: { at: 'interrupted' },
    causes: [...unread, ...asMessages(turns.causes)],
  }
  return heardAt === undefined ? interrupted : hear(interrupted, at)
}

/** No turn waits for these results any more. */
function asMessages(causes: readonly Cause[]): readonly Cause[] {
  if (!causes.some(({ of }) => of === 'result')) return causes
  return causes.map(({ at, of }) => ({ at, of: of === 'result' ? 'message' : of }))
}

/** How long no side has spoken. A model sends speech faster than it is played, so that its speech lasts longer than its messages. */
export interface Quiet {
  /** When the latest message was sent or received. */
  readonly latest: number
  /** When the speech of the model will have been played. */
  readonly playedAt: number
  /** Does the user speak, as far as the app or the model says? */
  readonly user: 'speaking' | 'silent'
}

/** No one has spoken. */
export const QUIET: Quiet = { latest: 0, playedAt: 0, user: 'silent' }

const DEFAULT_RATE = 24_000
const BYTES_PER_SAMPLE = 2

/** Milliseconds since someone spoke; 0 while someone does. */
export function quietMs({ user, latest, playedAt }: Quiet, now: number): number {
  return user === 'speaking' ? 0 : Math.max(0, now - Math.max(latest, playedAt))
}

/** Who speaks after a fact. */
export function reduceQuiet(quiet: Quiet, fact: Fact): Quiet {
  switch (fact.type) {
    case 'sent':
    case 'responded':
      return { ...quiet, latest: fact.at }
    case 'activity':
      return { ...quiet, latest: fact.at, user: userIn(fact) }
    case 'received':
      return hearQuiet(quiet, fact.message, fact.at)
    default:
      return quiet
  }
}

function hearQuiet({ user, playedAt }: Quiet, message: LiveServerMessage, at: number): Quiet {
  switch (message.type) {
    case 'activity':
      return { latest: at, playedAt, user: userIn(message) }
    case 'interrupted':
      return { latest: at, playedAt: at, user }
    case 'audio':
      return { latest: at, playedAt: Math.max(playedAt, at) + durationOf(message), user }
    default:
      return { latest: at, playedAt, user }
  }
}

function userIn({ state }: { readonly state: 'start' | 'end' }): Quiet['user'] {
  return state === 'start' ? 'speaking' : 'silent'
}

function durationOf({ data, mimeType }: { readonly data: Uint8Array; readonly mimeType: string }): number {
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? DEFAULT_RATE)
  return (1_000 * data.byteLength) / (BYTES_PER_SAMPLE * Math.max(1, rate))
}
