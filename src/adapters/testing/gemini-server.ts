import { callback, checkOptions, list, type OptionRules, text } from '../../core/error/check-options.ts'
import type { GeminiScript, GeminiServer, GeminiServerOptions } from './gemini-script.ts'
import { startGeminiServer } from './server/start-gemini-server.ts'

const RULES: OptionRules<GeminiServerOptions> = { models: list, apiKey: text, rules: callback }

/**
 * Starts a local HTTP server with the paths and the format of the Gemini API and Vertex AI. It sends the responses of
 * the script, rejects requests that Gemini rejects, and simulates faults. A request after the last step is rejected.
 * Requires Node.
 *
 * @example
 * await using server = await geminiServer([{ calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }, 'Cold.'])
 * const model = gemini('gemini-2.5-flash', { apiKey: 'any', baseUrl: server.url })
 */
export async function geminiServer(script: GeminiScript, options: GeminiServerOptions = {}): Promise<GeminiServer> {
  checkOptions('geminiServer()', options, RULES)
  return await startGeminiServer(script, options)
}
