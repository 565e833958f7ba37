import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'

/**
 * `get_user_choice`: the model lets the user choose one of several options. The call stays pending until the user answers
 * with one of the options. Other answers are rejected.
 *
 * @example
 * const { pending } = await runner.complete({ userId: 'ada', sessionId: 's1', message: 'A drink, please.' })
 * await runner.complete({ userId: 'ada', sessionId: 's1', message: [respond(pending[0], 'tea')] })
 */
export function getUserChoice(): Tool {
  return tool({
    name: 'get_user_choice',
    description: 'Show the user a list of options and let them choose one.',
    parameters: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'What the user is asked.' },
        options: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'What they can choose from.' },
      },
      required: ['prompt', 'options'],
    },
    isLongRunning: true,
    effect: 'none',
    run: ({ prompt, options }) => ({ status: 'awaiting_user', prompt, options }),
  })
}
