import type { LiveServerMessage } from '../../tool/live-model.ts'
import type { Fact } from './fact.ts'

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
