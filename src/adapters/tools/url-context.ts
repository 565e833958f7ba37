import type { Tool } from '../../engine/tool/tool.ts'
import { serverTool } from './server-tool.ts'

/**
 * Server tool: Gemini reads the web pages whose URLs are in the conversation.
 *
 * @example
 * const agent = new LlmAgent({ name: 'reader', model: gemini('gemini-2.5-flash'), tools: [urlContext()] })
 */
export function urlContext(): Tool {
  return serverTool({
    name: 'url_context',
    description: 'Read the web pages whose addresses are in the conversation.',
    capability: 'urlContext',
    entry: { urlContext: {} },
  })
}
