import type { Tool } from '../../engine/tool/tool.ts'
import { serverTool } from './server-tool.ts'

/**
 * Server tool: Gemini on Vertex AI searches the web with the compliance controls for enterprises.
 *
 * @example
 * const model = gemini('gemini-2.5-flash', { vertexai: true, project: 'my-project' })
 * const agent = new LlmAgent({ name: 'news', model, tools: [enterpriseWebSearch()] })
 */
export function enterpriseWebSearch(): Tool {
  return serverTool({
    name: 'enterprise_web_search',
    description: 'Search the web.',
    capability: 'enterpriseWebSearch',
    entry: { enterpriseWebSearch: {} },
  })
}
