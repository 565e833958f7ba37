import type { Tool } from '../tool/tool.ts'
import { serverTool } from './server-tool.ts'

/** Gemini reads the web pages whose addresses are in the conversation. */
export function urlContext(): Tool {
  return serverTool({
    name: 'url_context',
    description: 'Read web pages whose addresses are given.',
    capability: 'urlContext',
    entry: { urlContext: {} },
  })
}
