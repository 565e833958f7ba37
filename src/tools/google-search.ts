import type { Tool } from '../tool/tool.ts'
import { serverTool } from './server-tool.ts'

/**
 * Gemini searches the web with Google by itself and says what it found where (`groundingMetadata` of the event).
 * Beside other tools, on a model that cannot have both, it becomes an agent tool of the same name.
 *
 * @example
 * const agent = new LlmAgent({ name: 'news', model: gemini('gemini-2.5-flash'), tools: [googleSearch()] })
 */
export function googleSearch(): Tool {
  return serverTool({
    name: 'google_search',
    description: 'Search the web with Google.',
    capability: 'googleSearch',
    entry: { googleSearch: {} },
  })
}
