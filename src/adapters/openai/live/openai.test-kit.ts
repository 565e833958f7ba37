// A live model of OpenAI that is connected to the local server.
import {
  type OpenAiRealtimeConnection,
  type OpenAiRealtimeServer,
  type OpenAiRealtimeServerOptions,
  openaiRealtimeServer,
} from 'toolwright/testing'
import type { FunctionResponse } from '../../../core/content/content.ts'
import type { LiveConnection, LiveConnectOptions, LiveServerMessage } from '../../../engine/model/live-model.ts'
import { openaiRealtime } from './openai-realtime.ts'
import type { OpenAiRealtimeOptions } from './options.ts'

export const KEY = 'sk-test-0123456789'
export const NO_TURN_DETECTION = { config: { audio: { input: { turn_detection: null } } } }

/** Both sides of a connection. */
interface Pair extends AsyncDisposable {
  readonly server: OpenAiRealtimeServer
  /** The side of the server. */
  readonly peer: OpenAiRealtimeConnection
  readonly connection: LiveConnection
  /** Reads messages up to the first one of this type. */
  until(type: LiveServerMessage['type']): Promise<LiveServerMessage[]>
}

interface PairOptions {
  readonly model?: OpenAiRealtimeOptions
  readonly connect?: Partial<LiveConnectOptions>
  readonly server?: OpenAiRealtimeServerOptions
}

export async function openPair(options: PairOptions = {}): Promise<Pair> {
  const server = await openaiRealtimeServer(options.server)
  const model = openaiRealtime('gpt-realtime', { apiKey: KEY, baseUrl: server.url, ...options.model })
  const connection = await model.connect(connectOptions(options.connect))
  const peer = await server.nextConnection()
  const messages = connection[Symbol.asyncIterator]()
  return {
    server,
    peer,
    connection,
    async until(type) {
      const read: LiveServerMessage[] = []
      for (;;) {
        const next = await messages.next()
        if (next.done) throw new Error(`The connection ended before a message of type ${type}.`)
        read.push(next.value)
        if (next.value.type === type) return read
      }
    },
    async [Symbol.asyncDispose]() {
      connection.close()
      await server.close()
    },
  }
}

export function connectOptions(options: Partial<LiveConnectOptions> = {}): LiveConnectOptions {
  return { instruction: undefined, tools: [], signal: new AbortController().signal, ...options }
}

/** A tool response with an output. */
export function result(id: string, name: string, more: Partial<FunctionResponse> = {}): FunctionResponse {
  return { id, name, response: { output: `result of ${id}` }, ...more }
}

/** The types of the client's events after the setup. */
export function sentTypes(peer: OpenAiRealtimeConnection): unknown[] {
  return peer.received.slice(1).map(({ type }) => type)
}
