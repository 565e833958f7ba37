// What a caller does with a session. The caller writes every event to the ledger before it reads the next one.
import { approve, type Part, type PendingRequest, type Run, respond } from 'toolwright'
import { connectLive } from 'toolwright/live'
import { toolNames } from '../tool-names.ts'
import type { Desk } from './desk.ts'
import { liveModel } from './models.ts'

/** Sends a message, and answers what is asked until the invocation is over. */
export async function converse(desk: Desk, message: string): Promise<void> {
  const { runner, userId, sessionId } = desk
  if (desk.shape === 'live') await speak(desk, message)
  else await read(desk, runner.run({ userId, sessionId, message }))
  await answerPending(desk)
}

/** A busy machine may let a recovery fail. It is repeated, as the timer of a server does. */
const MOST_RECOVERIES = 20

/** Completes what another process has left, and answers what is asked until nothing is open. */
export async function finish(desk: Desk): Promise<void> {
  const { runner, app: appName, outside } = desk
  for (let left = MOST_RECOVERIES; ; left--) {
    for (const run of await runner.recover()) await read(desk, run)
    if ((await outside.interrupted({ appName })).length === 0) break
    if (left === 0) throw new Error(`The session is not recovered: ${desk.errors.join('; ')}`)
  }
  await answerPending(desk)
}

/** The session accepts another message, and nothing is left to recover. */
export async function sayGoodbye({ runner, userId, sessionId }: Desk): Promise<void> {
  const { text } = await runner.complete({ userId, sessionId, message: 'Bye.' })
  const left = await runner.recover()
  if (text !== 'done' || left.length > 0) throw new Error(`The model said "${text}", and ${left.length} runs are left.`)
}

/** Answers what is asked until nothing is open. */
export async function answerPending(desk: Desk): Promise<void> {
  const { runner, userId, sessionId } = desk
  for (;;) {
    await runner.internals.backgroundOf({ userId, sessionId })
    const pending = await runner.pending({ userId, sessionId })
    if (pending.length === 0) return
    for (const { id } of pending) await desk.note({ type: 'answered', requestId: id })
    await read(desk, runner.run({ userId, sessionId, message: pending.map(answerTo) }))
  }
}

function answerTo(request: PendingRequest): Part {
  return request.kind === 'confirmation' ? approve(request) : respond(request, { paid: true })
}

/** Reads a run to its end. */
export async function read(desk: Desk, run: Run): Promise<void> {
  for await (const { id, partial } of run) if (!partial) await desk.note({ type: 'got', eventId: id })
}

/** Sends a message in a live session, and hangs up after the reply. */
async function speak(desk: Desk, message: string): Promise<void> {
  const { runner, userId, sessionId } = desk
  const session = await connectLive({ model: liveModel(desk, toolNames.live), runner, userId, sessionId })
  await session.send(message)
  for await (const { type, event } of session) {
    if (event) await desk.note({ type: 'got', eventId: event.id })
    if (type === 'turnComplete') break
  }
  await session.ended
}
