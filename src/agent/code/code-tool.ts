import type { JsonObject } from '../../base/json.ts'
import { isRecord } from '../../base/json.ts'
import type { ToolTable } from '../../dispatch/resolve.ts'
import { ToolwrightError } from '../../error/error.ts'
import { EXECUTE_CODE } from '../../event/code-call.ts'
import type { CodeExecutor } from '../../tool/code-executor.ts'
import type { Tool } from '../../tool/tool.ts'
import { RUNS_CODE } from '../../tool/tool-marks.ts'
import { SET_MODEL_RESPONSE } from '../agents/final-answer.ts'

/** What dispatch sees of an executor: a tool no model is told of, so that code passes the same callbacks and gates. */
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
            issues: [{ path: 'code', expected: 'code and its language, as text, and no more than maxArgsBytes of it' }],
          },
    run: () => {
      throw new ToolwrightError('INTERNAL', 'Code has no body: it is run as a scope of the run.')
    },
  }
}

const codeSchema: JsonObject = {
  type: 'object',
  properties: { language: { type: 'string' }, code: { type: 'string' } },
  required: ['language', 'code'],
}

/** What a model must know to write code that runs. */
export function codeInstruction(executor: CodeExecutor, toolNames: readonly string[]): string {
  const languages = executor.languages.join(' or ')
  const lines = [
    `You can run ${languages} code: write it in a fenced code block with the language's name, and nothing after it. You are shown what it printed, then go on.`,
    executor.instruction,
  ]
  if (executor.callsTools && toolNames.length) lines.push(`Code can call these tools: ${toolNames.join(', ')}.`)
  return lines.filter(Boolean).join(' ')
}

/** The tools code may call: those the model may, but for how it answers. */
export function callableFromCode({ entries }: ToolTable): string[] {
  return [...entries.values()].flatMap(({ tool, declaration }) =>
    declaration && tool.name !== SET_MODEL_RESPONSE ? [tool.name] : [],
  )
}
