import type { Tool } from '../tool/tool.ts'
import { serverTool } from './server-tool.ts'

/** Gemini on Vertex AI searches the web within an enterprise's compliance rules. */
export function enterpriseWebSearch(): Tool {
  return serverTool({
    name: 'enterprise_web_search',
    description: 'Search the web.',
    capability: 'enterpriseWebSearch',
    entry: { enterpriseWebSearch: {} },
  })
}
