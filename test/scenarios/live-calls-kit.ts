// Helpers for scenarios about the tool calls of a live session.
import {
  type Event,
  type FunctionResponse,
  type JsonObject,
  LlmAgent,
  Runner,
  type RunnerOptions,
  type Tool,
} from 'toolwright'
import { type GeminiLiveOptions, geminiLive } from 'toolwright/gemini'
import { connectLive, type LiveSession } from 'toolwright/live'
import {
  type GeminiLiveConnection,
  type GeminiLiveServer,
  geminiLiveServer,
  type ScriptedModel,
  scriptedModel,
} from 'toolwright/testing'
import { expect, onTestFinished } from 'vitest'
import { silentLogger } from './kit.ts'
import { collect, type LiveTest, startLive } from './live-kit.ts'

/** A response as it arrived at the server. */
export type SentResponse = Pick<FunctionResponse, 'id' | 'name' | 'response' | 'willContinue' | 'scheduling'>

/** `startLive()`, for a client that must not send anything that a strict server refuses. */
export async function startStrict(options: Parameters<typeof startLive>[0] = {}): Promise<LiveTest> {
  const started = await startLive(options)
  onTestFinished(() => expect(started.server.problems).toEqual([]))
  return started
}

/** `startStrict()` with a model that has other capabilities. */
export async function startWithCapabilities(
  capabilities: GeminiLiveOptions['capabilities'],
  { server: serverOptions, ...options }: NonNullable<Parameters<typeof startLive>[0]>,
): Promise<LiveTest> {
  const server = await geminiLiveServer(serverOptions)
  onTestFinished(() => server.close())
  const model = geminiLive('gemini-live-test', { apiKey: 'test-key-123', baseUrl: server.url, capabilities })
  const session = await connectLive({ model, ...options })
  onTestFinished(() => session.close())
  onTestFinished(() => expect(server.problems).toEqual([]))
  return { session, server, connection: await server.nextConnection(), ...collect(session) }
}

/** The responses of the next message with tool responses. */
export async function nextResponses(connection: GeminiLiveConnection): Promise<SentResponse[]> {
  const message = (await connection.next('toolResponse')) as { toolResponse: { functionResponses: SentResponse[] } }
  return message.toolResponse.functionResponses
}

/** The only response of the next message with tool responses. */
export async function nextResponse(connection: GeminiLiveConnection): Promise<SentResponse> {
  const [response, ...more] = await nextResponses(connection)
  expect(more).toEqual([])
  return response as SentResponse
}

/** Reads messages until this many responses have arrived, and returns them by call id. */
export async function collectResponses(
  connection: GeminiLiveConnection,
  count: number,
): Promise<Map<string, JsonObject[]>> {
  const found = new Map<string, JsonObject[]>()
  for (let seen = 0; seen < count; ) {
    for (const { id = '', response } of await nextResponses(connection)) {
      found.set(id, [...(found.get(id) ?? []), response])
      seen++
    }
  }
  return found
}

/** Calls one tool and returns its response. */
export async function callTool(
  connection: GeminiLiveConnection,
  name: string,
  args: JsonObject = {},
  id: string = `call-${name}`,
): Promise<JsonObject> {
  connection.call([{ id, name, args }])
  return (await nextResponse(connection)).response
}

/** Everything that arrived for a call, in order. */
export function received(server: GeminiLiveServer, id: string): readonly JsonObject[] {
  return server.conversations.flatMap(({ calls }) => calls.get(id)?.responses ?? [])
}

/**
 * Waits until the server has everything that the session sent so far: a picture is sent at once, after what was sent before it.
 */
export async function flushed(session: LiveSession, connection: GeminiLiveConnection): Promise<void> {
  const mimeType = `image/png;mark=${++marks}`
  await session.send({ video: new Uint8Array(1), mimeType })
  for (;;) {
    const { realtimeInput } = (await connection.next('realtimeInput')) as { realtimeInput: { video?: JsonObject } }
    if (realtimeInput.video?.mimeType === mimeType) return
  }
}
let marks = 0

/** A runner for live sessions of user ada. */
export function liveRunner(
  tools: readonly Tool[],
  options: Partial<RunnerOptions> = {},
): { runner: Runner; model: ScriptedModel } {
  const model = scriptedModel([])
  const agent = new LlmAgent({ name: 'desk', model, tools })
  const runner = new Runner({ appName: 'app', agent, logger: silentLogger, ...options })
  onTestFinished(() => runner.close())
  return { runner, model }
}

/** The recorded events of a session. */
export async function storedEvents(runner: Runner, { userId, sessionId }: LiveSession): Promise<readonly Event[]> {
  const session = await runner.sessionService.getSession({ appName: runner.appName, userId, sessionId })
  return session?.events ?? []
}
