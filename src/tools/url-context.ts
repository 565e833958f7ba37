import type { Tool } from '../tool/tool.ts'
import { serverSide } from './server-tool.ts'

/** Gemini reads the web pages whose addresses are in the conversation. */
export function urlContext(): Tool {
  return serverSide({
    name: 'url_context',
    description: 'Read web pages whose addresses are given.',
    capability: 'urlContext',
    entry: { urlContext: {} },
  })
}
