import type { WebSocket } from 'ws'
import { connectLive } from '../../../adapters/live/connect-live.ts'
import { answerLater } from '../../../adapters/live/session/answer-later.ts'
import type { LiveSession } from '../../../adapters/live/session/live-session.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import type { Runner } from '../../../engine/runner/runner.ts'
import type { ServedApp } from '../apps.ts'
import type { ServerParts } from '../env.ts'
import { describeError } from '../errors/error-body.ts'
import { allowedAnswers } from '../guard/may-answer.ts'
import type { RunSlot } from '../guard/run-slots.ts'
import type { Principal } from '../principal/principal.ts'
import type { LiveAppOptions } from '../server-options.ts'
import { type ClientFrame, readFrame } from './read-frame.ts'
import { type ResponseModality, withModality } from './response-modality.ts'
import { CLOSE_CODES, SocketLink } from './socket-link.ts'
import { AdkFrames, liveFrames } from './write-frame.ts'

/** The session that a WebSocket speaks in. */
interface LiveRequest {
  /** The app; undefined if there is none of the name in the request. */
  readonly app: ServedApp | undefined
  /** The user that the principal acts as. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** What the model replies with; undefined: as the model is set up. */
  readonly modality: ResponseModality | undefined
  /** Sends `LiveEvent`s instead of ADK events. */
  readonly isNative: boolean
  /** Names the request in the log of the operator. */
  readonly correlationId: string
  /** Who sends the frames. */
  readonly principal: Principal
  /** The span that the client names, as it was sent. */
  readonly traceparent: string | undefined
}

/** Recent events among which the event of a pending request is looked up. */
const RECENT_EVENTS = 50

/** Connects a WebSocket to a live session, until one of them ends. Never rejects. */
export async function serveLive(socket: WebSocket, request: LiveRequest, parts: ServerParts): Promise<void> {
  const link = new SocketLink(socket, parts.limits)
  let slot: RunSlot | undefined
  try {
    slot = parts.runSlots.take(request.principal.userId)
    const found = await findLiveApp(request)
    if ('code' in found) link.close(found.code, found.reason)
    else if (!link.ended.aborted) await new Bridge({ link, request, parts, found }).run()
  } catch (error) {
    if (link.ended.aborted) return // the client left while the session started
    const { body } = describeError(error, request.correlationId, parts.logger)
    link.close(CLOSE_CODES.failed, `${body.errorCode}: ${body.error}`)
  } finally {
    slot?.release()
  }
}

/** An app with its live model. */
interface LiveApp {
  readonly runner: Runner
  readonly live: LiveAppOptions
}

/** Why there is no session for a client. */
interface Refusal {
  readonly code: number
  readonly reason: string
}

async function findLiveApp({ app, userId, sessionId }: LiveRequest): Promise<LiveApp | Refusal> {
  if (!app) return { code: CLOSE_CODES.policy, reason: 'There is no such app.' }
  const { runner, live } = app
  if (!live) return { code: CLOSE_CODES.policy, reason: 'The app has no live model.' }
  if (await app.whatIfs.has({ userId, sessionId }))
    return { code: CLOSE_CODES.policy, reason: 'A what-if copy has no live sessions.' }
  const key = { appName: runner.appName, userId, sessionId, config: { numRecentEvents: 0 } }
  const session = await runner.sessionService.getSession(key)
  return session ? { runner, live } : { code: CLOSE_CODES.noSession, reason: 'Session not found.' }
}

interface BridgeOptions {
  readonly link: SocketLink
  readonly request: LiveRequest
  readonly parts: ServerParts
  readonly found: LiveApp
}

/** Passes frames of a client to a live session, and events of the session to the client. */
class Bridge {
  readonly #link: SocketLink
  readonly #request: LiveRequest
  readonly #parts: ServerParts
  readonly #app: LiveApp

  constructor({ link, request, parts, found }: BridgeOptions) {
    this.#link = link
    this.#request = request
    this.#parts = parts
    this.#app = found
  }

  /** Runs until the client leaves, or the session ends. */
  async run(): Promise<void> {
    const { userId, sessionId, isNative, modality, traceparent } = this.#request
    const { live, runner } = this.#app
    const confirmationProvider = answerLater // by frames, or over HTTP
    const model = withModality(live.model, modality)
    const signal = this.#link.ended
    const own = { model, runner, userId, sessionId, traceparent, signal }
    const session = await connectLive({ confirmationProvider, ...live, ...own })
    const author = { agent: runner.agent.name, invocationId: session.invocationId }
    const adk = isNative ? undefined : new AdkFrames(author)
    const writer = adk ?? liveFrames
    this.#link.read((text) => this.#receive(text, session))
    let failure: string | undefined
    for await (const event of session) {
      if (event.type === 'error') failure = event.errorCode
      for (const frame of writer.write(event)) await this.#link.send(frame)
      if (adk && event.type === 'request') await this.#sendRequest(event.request, adk)
    }
    const code = failure === 'CONNECTION_LOST' ? CLOSE_CODES.failed : CLOSE_CODES.normal
    this.#link.close(code, failure ?? 'The session has ended.')
  }

  async #receive(text: string, session: LiveSession): Promise<void> {
    const { framePace, requestRate } = this.#parts
    const { principal, userId, sessionId } = this.#request
    const { runner } = this.#app
    try {
      const frame = await framePace.read(text, principal.userId, readFrame)
      if (isRecorded(frame)) requestRate.count(principal.userId)
      if (frame.type === 'message') await session.send(frame.message)
      else if (frame.type === 'answers') {
        const scope = { runner, userId, sessionId, principal }
        await session.answer(...(await allowedAnswers(this.#parts, scope, frame.answers)))
      } else if (frame.type === 'close') await session.close()
    } catch (error) {
      await this.#refuse(error)
    }
  }

  /** A client that sends what cannot be read is cut off. An answer that comes too late, for example, is only reported. */
  async #refuse(error: unknown): Promise<void> {
    const { correlationId } = this.#request
    const { body } = describeError(error, correlationId, this.#parts.logger)
    if (body.errorCode === 'INVALID_REQUEST' || body.errorCode === 'TOO_LARGE')
      this.#link.close(CLOSE_CODES.invalidFrame, body.error)
    else if (this.#request.isNative)
      await this.#link.send({ type: 'error', errorCode: body.errorCode, message: body.error, correlationId })
    else await this.#link.send(body)
  }

  /** ADK clients read a request in the recorded event with the call that makes it. */
  async #sendRequest(request: PendingRequest, writer: AdkFrames): Promise<void> {
    const { userId, sessionId } = this.#request
    const { sessionService, appName } = this.#app.runner
    try {
      const config = { numRecentEvents: RECENT_EVENTS }
      const session = await sessionService.getSession({ appName, userId, sessionId, config })
      const event = session?.events.findLast(({ content }) =>
        content?.parts.some(({ functionCall }) => functionCall?.id === request.id),
      )
      for (const frame of event ? writer.writeRecorded(event) : []) await this.#link.send(frame)
    } catch (error) {
      this.#parts.logger.warn(`Request "${request.id}" could not be shown: ${messageOf(error)}`, error)
    }
  }
}

/** Messages and answers are recorded. Audio, pictures and activity are only passed on. */
function isRecorded(frame: ClientFrame): boolean {
  return frame.type === 'answers' || (frame.type === 'message' && 'content' in frame.message)
}

/** Refuses a request that is not a WebSocket. */
export function needsSocket(): ToolwrightError {
  return new ToolwrightError('INVALID_REQUEST', '/run_live is a WebSocket. Connect with `ws:` or `wss:`.')
}
