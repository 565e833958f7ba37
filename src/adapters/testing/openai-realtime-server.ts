import { callback, checkOptions, type OptionRules, oneOf, text } from '../../core/error/check-options.ts'
import type { OpenAiRealtimeServer, OpenAiRealtimeServerOptions } from './openai-realtime-connection.ts'
import { startRealtimeServer } from './server/realtime/start-realtime-server.ts'

const RULES: OptionRules<OpenAiRealtimeServerOptions> = {
  apiKey: text,
  setup: oneOf('accept', 'ignore'),
  onConnection: callback,
}

/**
 * Starts a local WebSocket server with the events of OpenAI's Realtime API. It checks the events of clients, keeps the
 * conversation, and refuses what the API refuses. Tests decide what the model says. Requires Node and the package `ws`.
 *
 * @example
 * await using server = await openaiRealtimeServer()
 * const model = openaiRealtime('gpt-realtime', { apiKey: 'any', baseUrl: server.url })
 */
export async function openaiRealtimeServer(options: OpenAiRealtimeServerOptions = {}): Promise<OpenAiRealtimeServer> {
  checkOptions('openaiRealtimeServer()', options, RULES)
  return await startRealtimeServer(options)
}
