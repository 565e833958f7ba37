// Results for a model that takes them only as messages. A message would stop what the model says, so that they wait for its end.
import type { Content } from '../../content/content.ts'
import type { LiveClientMessage, LiveServerMessage } from '../../tool/live-model.ts'
import type { Fact, Wanted } from './fact.ts'
import { isBusy, type Turns } from './turn.ts'

/** Results that the model must not hear now. */
export interface HeldResults {
  /** The results. */
  readonly contents: readonly Content[]
  /** What the model does about them. */
  readonly wants: Wanted
}

/**
 * A model that has been quiet for so long counts as idle, in milliseconds: a model may choose not to reply, and some never say that
 * their turn is complete.
 */
const QUIET_MS = 3_000

/** Milliseconds until held results may be sent. Undefined: none is held. `isBlocked`: the model waits for a call, and cannot speak. */
export function heldForMs(
  { held, turns, quiet }: { readonly held: readonly HeldResults[]; readonly turns: Turns; readonly quiet: Quiet },
  { isBlocked, now }: { readonly isBlocked: boolean; readonly now: number },
): number | undefined {
  if (held.length === 0) return undefined
  if (isBlocked) return QUIET_MS
  return isBusy(turns) ? Math.max(0, QUIET_MS - quietMs(quiet, now)) : 0
}

/** All held results as one message. */
export function heldMessage(held: readonly HeldResults[]): LiveClientMessage {
  const contents = held.flatMap((one) => one.contents)
  return { type: 'content', contents, turnComplete: held.some(({ wants }) => wants === 'reply') }
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
function quietMs({ user, latest, playedAt }: Quiet, now: number): number {
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
      return receive(quiet, fact.message, fact.at)
    default:
      return quiet
  }
}

function receive({ user, playedAt }: Quiet, message: LiveServerMessage, at: number): Quiet {
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
