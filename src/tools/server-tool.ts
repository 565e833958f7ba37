import { markServerTool, type ServerTool } from '../tool/server-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { passive } from './request-only-tool.ts'

/** A handle for something the model's servers do: no declaration, no body, one entry in each request. */
export function serverSide(options: { name: string; description: string } & ServerTool): Tool {
  const { name, description, ...mark } = options
  const handle = passive({
    name,
    description,
    processLlmRequest: (request) => request.appendWireTool(mark.entry),
  })
  return markServerTool(handle, mark)
}
