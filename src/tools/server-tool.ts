import { markServerTool, type ServerTool } from '../tool/server-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { requestOnlyTool } from './request-only-tool.ts'

/** A handle for something the model's servers do: no declaration, no body, one entry in each request. */
export function serverTool(options: { name: string; description: string } & ServerTool): Tool {
  const { name, description, ...mark } = options
  const handle = requestOnlyTool({
    name,
    description,
    processLlmRequest: (request) => request.appendWireTool(mark.entry),
  })
  return markServerTool(handle, mark)
}
