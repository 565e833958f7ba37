// For tests only: connects a live model to a local server.

import type { LiveConnection, LiveConnectOptions, LiveServerMessage } from '../../../engine/model/live-model.ts'
import type {
  GeminiLiveConnection,
  GeminiLiveServer,
  GeminiLiveServerOptions,
} from '../../testing/gemini-live-script.ts'
import { geminiLiveServer } from '../../testing/gemini-live-server.ts'
import { KEY } from '../gemini.test-kit.ts'
import { geminiLive } from './gemini-live.ts'
import type { GeminiLiveOptions } from './options.ts'

/** Options that connect to Vertex AI on the local server, without any other address. */
export const VERTEX: GeminiLiveOptions = {
  apiKey: undefined,
  vertexai: true,
  project: 'p1',
  location: 'us-central1',
  accessToken: 'ya29.secret-token',
}

/** What a test connects with. */
interface DialOptions extends Partial<LiveConnectOptions> {
  /** Name of the model. Default: a Gemini 2.5 model. */
  readonly name?: string
  /** Options of `geminiLive()`. */
  readonly options?: GeminiLiveOptions
  /** Options of the server. */
  readonly server?: GeminiLiveServerOptions
}

/** Connects a model to a running server. */
export function dial(server: Pick<GeminiLiveServer, 'url'>, how: DialOptions = {}): Promise<LiveConnection> {
  const { name = 'gemini-2.5-flash-live', options, server: _, ...connect } = how
  const model = geminiLive(name, { apiKey: KEY, baseUrl: server.url, ...options })
  return model.connect({ instruction: undefined, tools: [], signal: new AbortController().signal, ...connect })
}

/** Both ends of a connection. */
interface Line extends AsyncDisposable {
  /** The local server. */
  readonly server: GeminiLiveServer
  /** The end of the server. */
  readonly remote: GeminiLiveConnection
  /** The end of the model. */
  readonly local: LiveConnection
  /** Reads the next messages. */
  read(count: number): Promise<LiveServerMessage[]>
}

/** Starts a server without handles and connects a model to it. */
export async function openLine(how: DialOptions = {}): Promise<Line> {
  const server = await geminiLiveServer({ sendHandles: false, ...how.server })
  const local = await dial(server, how)
  const remote = await server.nextConnection()
  let iterator: AsyncIterator<LiveServerMessage> | undefined
  const read = async (count: number): Promise<LiveServerMessage[]> => {
    iterator ??= local[Symbol.asyncIterator]()
    const messages: LiveServerMessage[] = []
    while (messages.length < count) {
      const { value, done } = await iterator.next()
      if (done) throw new Error(`The connection ended after ${messages.length} of ${count} messages.`)
      messages.push(value)
    }
    return messages
  }
  const end = async (): Promise<void> => {
    local.close()
    await server.close()
  }
  return { server, remote, local, read, [Symbol.asyncDispose]: end }
}

/** What a connection reports after all its messages. */
export async function readEnd(connection: LiveConnection): Promise<unknown> {
  try {
    for await (const _ of connection);
    return 'closed'
  } catch (thrown) {
    return thrown
  }
}
