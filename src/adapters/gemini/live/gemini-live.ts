import type { LiveModel } from '../../../engine/model/live-model.ts'
import { lazyClient } from '../transport/client.ts'
import { liveCapabilitiesOf } from './live-capabilities.ts'
import { readLiveSettings } from './live-settings.ts'
import { openConnection } from './open-connection.ts'
import type { GeminiLiveOptions } from './options.ts'

/**
 * A Gemini model for live sessions, through the Gemini API or Vertex AI. Needs the package `@google/genai`, and an API key
 * or project in the options or in environment variables.
 *
 * @example
 * const session = await connectLive({ agent, model: geminiLive('gemini-2.5-flash-native-audio-preview-12-2025') })
 */
export function geminiLive(name: string, options: GeminiLiveOptions = {}): LiveModel {
  const settings = readLiveSettings(name, options)
  const client = lazyClient(settings)
  return {
    name,
    capabilities: { ...liveCapabilitiesOf(name, settings.isVertex), ...options.capabilities },
    connect: async (connectOptions) => await openConnection(await client(), settings, connectOptions),
  }
}
