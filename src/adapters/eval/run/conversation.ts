// Has the conversation of a case with the real runner: live, or with recorded tools.
import { type Message, textOf } from '../../../core/content/content.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { EvalCase } from '../cases/eval-set.ts'
import type { TurnOutcome } from '../checks/check.ts'
import { Answers } from './answer-requests.ts'
import type { SimulatedUser } from './simulated-user.ts'

/** A turn before its invocation is read from the log. */
export type SpokenTurn = Omit<TurnOutcome, 'invocation'> & {
  /** The invocation that the message started. */
  readonly invocationId: string
}

/** Most rounds of answers in one turn: a gate that asks again and again must end. */
const MAX_ROUNDS = 100

/** Whose conversation it is. */
export interface ConversationOptions {
  /** The case. */
  readonly case: EvalCase
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The user of a scenario. */
  readonly user: SimulatedUser | undefined
  /** Aborts the conversation. */
  readonly signal: AbortSignal
}

/** Sends the messages of a case and answers its requests. Yields each turn when it has ended. */
export async function* converse(runner: Runner, options: ConversationOptions): AsyncGenerator<SpokenTurn> {
  const answers = new Answers(options.case.answers)
  let reply: string | undefined
  for (let at = 0; ; at++) {
    const message = await nextMessage(options, at, reply)
    if (message === undefined || options.signal.aborted) return
    const turn = await runTurn(runner, message, answers, options)
    reply = turn.reply
    yield turn
  }
}

async function nextMessage(
  { case: one, user, signal }: ConversationOptions,
  at: number,
  reply: string | undefined,
): Promise<Message | undefined> {
  return user ? await user.next(reply, signal) : one.turns?.[at]?.user
}

async function runTurn(
  runner: Runner,
  message: Message,
  answers: Answers,
  { userId, sessionId, signal }: ConversationOptions,
): Promise<SpokenTurn> {
  const since = performance.now()
  let done = await runner.complete({ userId, sessionId, message, signal })
  const { invocationId } = done
  let text = done.text
  for (let round = 0; done.pending.length > 0; round++) {
    if (round >= MAX_ROUNDS)
      throw new ToolwrightError(
        'INVALID_REQUEST',
        `A turn asked more than ${MAX_ROUNDS} times. Set answers that end it.`,
      )
    const parts = done.pending.flatMap((request: PendingRequest) => answers.to(request) ?? [])
    if (parts.length === 0) break // results that no answer has: the calls go on waiting
    done = await runner.complete({ userId, sessionId, message: parts, signal })
    if (done.text !== '') text = done.text
  }
  const user =
    typeof message === 'string' ? message : textOf('parts' in message ? message : { role: 'user', parts: message })
  return { user, reply: text, error: done.error, invocationId, timeMs: performance.now() - since }
}
