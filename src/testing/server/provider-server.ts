// For tests only: a local server that model providers are pointed at. It says what it was told to say and keeps what it
// was asked.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../base/json.ts'

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
  /** Does it want events rather than one body? */
  readonly isStream: boolean
  /** When the client has gone, or has got everything. */
  readonly closed: Promise<void>
}

/** What is sent back: one body, or server-sent events. */
export interface ServerResponseScript {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** Objects are data; with a `type` they have an event name too. Strings are written as they are. */
  readonly events?: Iterable<object | string>
  /** How an event is written. Default: as a server-sent event. */
  readonly frame?: (event: object) => string | Uint8Array
  /** After the events: `end` (the default), `break` the connection, or `hold` it open. */
  readonly ending?: 'end' | 'break' | 'hold'
}

export type Reply = ServerResponseScript | ((asked: ReceivedRequest) => ServerResponseScript)

/** The beginning of a streamed reply, up to the event with these words; then more events, or another ending. */
export function truncateAfter(
  reply: Reply,
  words: string,
  more: Pick<ServerResponseScript, 'events' | 'ending'>,
): Reply {
  return (asked) => {
    const { events: given = [], ...rest } = typeof reply === 'function' ? reply(asked) : reply
    const events = [...given]
    const end = events.findIndex((event) => JSON.stringify(event).includes(words)) + 1
    if (end === 0) throw new Error(`No event says "${words}".`)
    return { ...rest, ...more, events: [...events.slice(0, end), ...(more.events ?? [])] }
  }
}

export class ProviderServer {
  readonly requests: ReceivedRequest[] = []
  readonly #replies: Reply[]
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  #waiting: (() => void) | undefined

  private constructor(replies: readonly Reply[]) {
    this.#replies = [...replies]
  }

  /** Listens on a free port of this machine. */
  static async start(replies: readonly Reply[]): Promise<ProviderServer> {
    const made = new ProviderServer(replies)
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when so many requests have arrived. */
  async waitForRequests(times: number): Promise<void> {
    while (this.requests.length < times) await new Promise<void>((resolve) => (this.#waiting = resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body: JsonObject = JSON.parse(text || '{}')
    const path = request.url ?? ''
    const asked: ReceivedRequest = {
      path,
      headers: request.headers,
      body,
      isStream: body.stream === true || /[:-]stream/.test(path),
      closed: new Promise((resolve) => response.on('close', resolve)),
    }
    this.requests.push(asked)
    this.#waiting?.()
    const reply = this.#replies.shift()
    if (!reply) await send(response, { status: 500, json: { error: { message: 'The script is over.' } } })
    else await send(response, typeof reply === 'function' ? reply(asked) : reply)
  }
}

async function send(
  response: ServerResponse,
  { status = 200, headers, json, events, frame = toServerSentEvent, ending = 'end' }: ServerResponseScript,
): Promise<void> {
  const type = events ? 'text/event-stream' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  if (!events) {
    response.end(JSON.stringify(json ?? {}))
    return
  }
  response.flushHeaders()
  for (const event of events) {
    if (response.destroyed) return
    if (!response.write(typeof event === 'string' ? event : frame(event))) await waitForDrain(response)
  }
  if (ending === 'end') response.end()
  // what was written must have left before the connection is broken
  else if (ending === 'break') response.write('', () => response.destroy())
}

/** Resolves when more can be written, or the client has gone. */
function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function toServerSentEvent(event: object): string {
  const name = 'type' in event ? `event: ${String(event.type)}\n` : ''
  return `${name}data: ${JSON.stringify(event)}\n\n`
}
