// Answers of the inbox wait a moment before they are sent, because a recorded answer is final. They are sent at once when the user leaves.
import type { JsonObject } from '../../../src/core/base/json.ts'
import type { Part } from '../../../src/core/content/content.ts'
import { answerRequest } from '../api/pending.ts'
import { sendAnswer } from '../requests/send-answer.ts'
import { type Signal, signal } from '../state/signal.ts'
import { type AppRequest, keyOf } from './app-request.ts'
import { refreshPending } from './pending-store.ts'

/** An answer that was given in the inbox. */
export interface GivenAnswer {
  /** The request. */
  readonly target: AppRequest
  /** What was answered, such as `Approved`. */
  readonly label: string
  /** When, in seconds since the epoch. */
  readonly at: number
}

/** An answer that can be taken back. */
export interface HeldAnswer extends GivenAnswer {
  /** Sends it now. */
  send(): void
  /** Takes it back. */
  undo(): void
}

/** How long an answer can be taken back. */
export const UNDO_SECONDS = 5
const MOST_SENT = 5

/** The answers that can be taken back. */
export const heldAnswers: Signal<readonly HeldAnswer[]> = signal<readonly HeldAnswer[]>([])

/** The latest answers that were sent, the latest first. */
export const sentAnswers: Signal<readonly GivenAnswer[]> = signal<readonly GivenAnswer[]>([])

/** Sends an answer in a moment. A sign-in is sent at once: its code does not last. Rejects if the server refuses the answer. */
export async function holdAnswer(target: AppRequest, part: Part): Promise<'sent' | 'undone'> {
  const { kind, expiresAt = Number.POSITIVE_INFINITY } = target.request
  const at = Date.now() / 1000
  const answer = part.functionResponse?.response ?? {}
  const given: GivenAnswer = { target, at, label: labelOf(target, answer) }
  const seconds = Math.min(UNDO_SECONDS, expiresAt - at - 1)
  if (kind === 'credential') return await sendAnswer(target, part)
  if (seconds > 0 && !(await isLeftAlone(given, seconds))) return 'undone'
  await post(given, answer)
  return 'sent'
}

/** False if the user takes the answer back. */
function isLeftAlone(given: GivenAnswer, seconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isSent: boolean): void => {
      clearTimeout(timer)
      heldAnswers.update((all) => all.filter((one) => one !== own))
      resolve(isSent)
    }
    const own: HeldAnswer = { ...given, send: () => end(true), undo: () => end(false) }
    const timer = setTimeout(own.send, seconds * 1000)
    heldAnswers.value.find(({ target }) => keyOf(target) === keyOf(given.target))?.undo()
    heldAnswers.update((all) => [...all, own])
  })
}

async function post(given: GivenAnswer, answer: JsonObject): Promise<void> {
  const { app, request } = given.target
  sentAnswers.update((all) => [given, ...all].slice(0, MOST_SENT))
  try {
    await answerRequest(app, request, answer)
  } catch (error) {
    sentAnswers.update((all) => all.filter((one) => one !== given))
    throw error
  }
  void refreshPending()
}

/** Sends all answers now. */
export function sendHeldAnswers(): void {
  for (const held of heldAnswers.value) held.send()
}

addEventListener('pagehide', sendHeldAnswers)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') sendHeldAnswers()
})

function labelOf({ request }: AppRequest, { confirmed, declined, args }: JsonObject): string {
  if (request.kind !== 'confirmation') return declined === true ? 'Declined' : 'Answered'
  if (confirmed !== true) return 'Denied'
  return args === undefined ? 'Approved' : 'Approved with edited arguments'
}
