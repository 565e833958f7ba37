import { callback, checkOptions, list, type OptionRules, text } from '../error/check-options.ts'
import type { GeminiScript, GeminiServer, GeminiServerOptions } from './gemini-script.ts'
import { startGeminiServer } from './server/start-gemini-server.ts'

const RULES: OptionRules<GeminiServerOptions> = { models: list, apiKey: text, rules: callback }

/**
 * A local HTTP server that speaks Gemini's wire, the Gemini API's paths and Vertex AI's: it says what the script says,
 * refuses what Gemini refuses, and fails as told. A request past the end of the script is refused. It needs Node.
 *
 * @example
 * await using server = await geminiServer([{ calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] }, 'Cold.'])
 * const model = gemini('gemini-2.5-flash', { apiKey: 'any', baseUrl: server.url })
 */
export async function geminiServer(script: GeminiScript, options: GeminiServerOptions = {}): Promise<GeminiServer> {
  checkOptions('geminiServer()', options, RULES)
  return await startGeminiServer(script, options)
}
