import { markServerTool, type ServerTool } from '../../engine/tool/server-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { requestOnlyTool } from './request-only-tool.ts'

/** A tool that the model's servers run. It has no declaration and no body, only an entry in each request. */
export function serverTool(options: { name: string; description: string } & ServerTool): Tool {
  const { name, description, ...mark } = options
  const tool = requestOnlyTool({
    name,
    description,
    processLlmRequest: (request) => request.appendConfigTool(mark.entry),
  })
  return markServerTool(tool, mark)
}
