// A live session of the real Gemini client against the local server.

import { geminiLive } from 'toolwright/gemini'
import { connectLive, type LiveEvent, type LiveOptions, type LiveSession } from 'toolwright/live'
import { type GeminiLiveConnection, type GeminiLiveServer, geminiLiveServer } from 'toolwright/testing'
import { onTestFinished } from 'vitest'

/** A session, its server, and everything it has shown. */
export interface LiveTest {
  readonly session: LiveSession
  readonly server: GeminiLiveServer
  readonly connection: GeminiLiveConnection
  readonly events: LiveEvent[]
  /** Waits for an event that the session has shown or will show. Each event is returned once. */
  event<T extends LiveEvent['type']>(type: T): Promise<LiveEvent & { type: T }>
}

/** Starts a server and connects a session to it. Both are closed when the test is over. */
export async function startLive(
  options: Partial<LiveOptions<LiveSession>> & { server?: Parameters<typeof geminiLiveServer>[0] } = {},
): Promise<LiveTest> {
  const { server: serverOptions, ...given } = options
  const server = await geminiLiveServer(serverOptions)
  onTestFinished(() => server.close())
  const model = geminiLive('gemini-live-test', { apiKey: 'test-key-123', baseUrl: server.url })
  const session = await connectLive({ model, ...given })
  onTestFinished(() => session.close())
  const connection = await server.nextConnection()
  return { session, server, connection, ...collect(session) }
}

/** Reads a session to its end in the background. */
export function collect(session: LiveSession): Pick<LiveTest, 'events' | 'event'> {
  const events: LiveEvent[] = []
  const taken = new Set<LiveEvent>()
  const waiting = new Set<() => void>()
  void (async () => {
    for await (const event of session) {
      events.push(event)
      for (const wake of [...waiting]) wake()
    }
  })()
  const event = <T extends LiveEvent['type']>(type: T): Promise<LiveEvent & { type: T }> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = events.find((one) => one.type === type && !taken.has(one))
        if (!found) return
        taken.add(found)
        waiting.delete(look)
        resolve(found as LiveEvent & { type: T })
      }
      waiting.add(look)
      look()
    })
  return { events, event }
}

/** The first response of a `toolResponse` message. */
export function responseIn(message: unknown): {
  id: string
  name: string
  response: Record<string, unknown>
  willContinue?: boolean
  scheduling?: string
} {
  return (message as { toolResponse: { functionResponses: never[] } }).toolResponse.functionResponses[0] as never
}
