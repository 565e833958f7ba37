import type { Tool } from '../tool/tool.ts'
import { serverTool } from './server-tool.ts'

/** Gemini runs the Python it writes on Google's servers. To run code on yours, give the agent a `codeExecutor`. */
export function codeExecution(): Tool {
  return serverTool({
    name: 'code_execution',
    description: 'Write Python and run it, to compute something exactly.',
    capability: 'codeExecution',
    entry: { codeExecution: {} },
  })
}
