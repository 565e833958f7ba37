import type { JsonObject } from '../../../core/base/json.ts'
import { isRecord } from '../../../core/base/json.ts'
import { ToolwrightError } from '../../../core/error/error.ts'
import { EXECUTE_CODE } from '../../../core/event/code-call.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import type { CodeExecutor } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import { RUNS_CODE } from '../../tool/tool-marks.ts'
import { SET_MODEL_RESPONSE } from '../agents/final-answer.ts'

/**
 * The executor as a tool for dispatch, so that the callbacks and gates of tool calls also apply to code. The model
 * does not see it.
 */
export function codeTool(executor: CodeExecutor): Tool & { [RUNS_CODE]: true } {
  const description = `Run ${executor.languages.join(' or ')} code.`
  const declaration = { name: EXECUTE_CODE, description, parametersJsonSchema: codeSchema }
  return {
    name: EXECUTE_CODE,
    description,
    [RUNS_CODE]: true,
    effect: executor.effect ?? 'none',
    requiresConfirmation: executor.requiresConfirmation,
    declaration: () => declaration,
    parse: (args) =>
      isRecord(args) && typeof args.code === 'string' && args.code !== '' && typeof args.language === 'string'
        ? { value: { language: args.language, code: args.code } }
        : {
            issues: [{ path: 'code', expected: 'code and its language as strings, at most maxArgsBytes long' }],
          },
    run: () => {
      throw new ToolwrightError(
        'INTERNAL',
        'The code tool has no body: a runner runs the code as a scope. Do not call run() of the code tool.',
      )
    },
  }
}

const codeSchema: JsonObject = {
  type: 'object',
  properties: { language: { type: 'string' }, code: { type: 'string' } },
  required: ['language', 'code'],
}

/** The instruction that tells a model how to write code that runs. */
export function codeInstruction(executor: CodeExecutor, toolNames: readonly string[]): string {
  const languages = executor.languages.join(' or ')
  const lines = [
    `You can run ${languages} code. Write the code in a fenced code block that starts with the language's name, and end your reply after the block. You then see the output of the code and can continue.`,
    executor.instruction,
  ]
  if (executor.callsTools && toolNames.length) lines.push(`Code can call these tools: ${toolNames.join(', ')}.`)
  return lines.filter(Boolean).join(' ')
}

/** The names of the tools that code can call: those of the model, without the tool for the final answer. */
export function callableFromCode({ entries }: ToolTable): string[] {
  return [...entries.values()].flatMap(({ tool, declaration }) =>
    declaration && tool.name !== SET_MODEL_RESPONSE ? [tool.name] : [],
  )
}
