import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { EXITS_LOOP } from '../../engine/tool/tool-marks.ts'

/**
 * `exit_loop`: the model ends the loop it runs in. The nearest `LoopAgent` stops after this turn, and the run continues after
 * the loop. Outside a loop, the model gets an error and continues.
 *
 * @example
 * const critic = new LlmAgent({ name: 'critic', instruction: 'Call exit_loop when the text is good.', tools: [exitLoop()] })
 * const loop = new LoopAgent({ name: 'refine', subAgents: [writer, critic], maxIterations: 5 })
 */
export function exitLoop(): Tool {
  const made = tool({
    name: 'exit_loop',
    description:
      'End the current loop. Call this tool only if your instructions say so and the work of the loop is done.',
    effect: 'none',
    run: (_, context) => {
      context.actions.escalate = true
      return { status: 'ok' }
    },
  })
  return Object.freeze({ ...made, [EXITS_LOOP]: true })
}
