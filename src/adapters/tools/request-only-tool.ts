import { ToolwrightError } from '../../core/error/error.ts'
import type { Tool } from '../../engine/tool/tool.ts'

/** A tool that only adds to model requests. It has no declaration, so a model cannot call it. */
export function requestOnlyTool(options: {
  name: string
  description: string
  processLlmRequest: NonNullable<Tool['processLlmRequest']>
}): Tool {
  return {
    ...options,
    effect: 'none',
    declaration: () => undefined,
    run: () => {
      throw new ToolwrightError('INTERNAL', `Tool "${options.name}" has no body: it only adds to model requests.`)
    },
  }
}
