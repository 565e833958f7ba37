import type { Tool } from '../../engine/tool/tool.ts'
import { serverTool } from './server-tool.ts'

/**
 * Server tool: Gemini searches the web with Google. The sources are in `groundingMetadata` of the event. On a model that
 * cannot combine it with other tools, the search moves to an agent tool of the same name.
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
