// For tests only: a local server that takes the place of a model provider. It sends scripted replies and records requests.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../src/core/base/json.ts'

/** A request that the server received. */
export interface ReceivedRequest {
  /** Path and query of the URL. */
  readonly path: string
  /** HTTP headers. */
  readonly headers: IncomingHttpHeaders
  /** The parsed JSON body. */
  readonly body: JsonObject
  /** Whether the client wants a stream of events. */
  readonly isStream: boolean
  /** Resolves when the client disconnects or has received everything. */
  readonly closed: Promise<void>
}

/** What the server sends: one JSON body, or events. */
export interface ServerResponseScript {
  /** HTTP status. Default 200. */
  readonly status?: number
  /** HTTP headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body, if there are no events. */
  readonly json?: unknown
  /** Objects are the data of an event, named by their `type`. Strings are written unchanged. */
  readonly events?: Iterable<object | string>
  /** Encodes an event. Default: as a server-sent event. */
  readonly frame?: (event: object) => string | Uint8Array
  /** What happens after the events: `end` the response, `break` the connection, or `hold` it open. Default `end`. */
  readonly ending?: 'end' | 'break' | 'hold'
}

/** A scripted reply, or a function of the request that returns one. */
export type Reply = ServerResponseScript | ((asked: ReceivedRequest) => ServerResponseScript)

/** A streamed reply that stops after the event with the text, followed by other events or another ending. */
export function truncateAfter(
  reply: Reply,
  text: string,
  more: Pick<ServerResponseScript, 'events' | 'ending'>,
): Reply {
  return (asked) => {
    const { events: given = [], ...rest } = typeof reply === 'function' ? reply(asked) : reply
    const events = [...given]
    const end = events.findIndex((event) => JSON.stringify(event).includes(text)) + 1
    if (end === 0) throw new Error(`No event contains "${text}".`)
    return { ...rest, ...more, events: [...events.slice(0, end), ...(more.events ?? [])] }
  }
}

/** A local HTTP server with scripted replies, one for each request. */
export class ProviderServer {
  /** The requests received so far. */
  readonly requests: ReceivedRequest[] = []
  readonly #replies: Reply[]
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  #waiting: (() => void) | undefined

  private constructor(replies: readonly Reply[]) {
    this.#replies = [...replies]
  }

  /** Starts a server on a free loopback port. */
  static async start(replies: readonly Reply[]): Promise<ProviderServer> {
    const started = new ProviderServer(replies)
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve))
    return started
  }

  /** URL of the server. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Waits until the server has received `times` requests. */
  async waitForRequests(times: number): Promise<void> {
    while (this.requests.length < times) await new Promise<void>((resolve) => (this.#waiting = resolve))
  }

  /** Closes all connections and the server. */
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
    if (!reply)
      await send(response, {
        status: 500,
        json: { error: { message: 'The test server has no scripted reply for this request. Add a reply.' } },
      })
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
  // breaks the connection only after everything is sent
  else if (ending === 'break') response.write('', () => response.destroy())
}

/** Waits until more can be written or the client disconnects. */
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
