import { callback, checkOptions, flag, list, type OptionRules, text } from '../../core/error/check-options.ts'
import type { GeminiLiveServer, GeminiLiveServerOptions } from './gemini-live-script.ts'
import { startLiveServer } from './server/live/start-live-server.ts'

const RULES: OptionRules<GeminiLiveServerOptions> = {
  onConnection: callback,
  onMessage: callback,
  apiKey: text,
  rejectHandles: list,
  acceptSetup: flag,
  sendHandles: flag,
}

/**
 * Starts a local WebSocket server with the paths and the format of the Gemini Live API and of Vertex AI. The test sends
 * the messages of the model. `problems` lists what a strict server refuses. Requires Node and the package `ws`.
 *
 * @example
 * await using server = await geminiLiveServer()
 * const model = geminiLive('gemini-2.5-flash-live', { apiKey: 'any', baseUrl: server.url })
 * // ... connect a client ...
 * const connection = await server.nextConnection()
 * connection.say('Hello!')
 * connection.turnComplete()
 */
export async function geminiLiveServer(options: GeminiLiveServerOptions = {}): Promise<GeminiLiveServer> {
  checkOptions('geminiLiveServer()', options, RULES)
  return await startLiveServer(options)
}
