import type { Tool } from '../../engine/tool/tool.ts'
import { serverTool } from './server-tool.ts'

/**
 * Server tool: Gemini runs the Python code it writes on Google's servers. To run code on your own machine, set the agent's
 * `codeExecutor` instead.
 *
 * @example
 * const agent = new LlmAgent({ name: 'calculator', model: gemini('gemini-2.5-flash'), tools: [codeExecution()] })
 */
export function codeExecution(): Tool {
  return serverTool({
    name: 'code_execution',
    description: 'Write Python and run it, to compute something exactly.',
    capability: 'codeExecution',
    entry: { codeExecution: {} },
  })
}
