import { isRecord } from '../../core/base/json.ts'
import { kindOf } from '../../core/base/kind-of.ts'
import { anything, checkOptions, type OptionRules, textOrCallback } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { aiSdkToolHint } from './ai-sdk-tool-hint.ts'
import { COMMON_RULES, checkReconcile } from './check-tool.ts'
import { nameProblem, type Tool } from './tool.ts'
import type { ToolOptions } from './tool-options.ts'

const RULES: OptionRules<ToolOptions<undefined, undefined, unknown>> = {
  ...COMMON_RULES,
  parameters: anything,
  confirmationHint: textOrCallback,
}

/** Throws if the options of `tool()` are invalid. */
export function checkToolOptions(options: unknown): void {
  if (!isRecord(options))
    throw invalid(`tool() takes an object { name, description, parameters, run }, got ${kindOf(options)}.`)
  const { name, description, run } = options
  if (name === undefined)
    throw invalid(`A tool needs a name: tool({ name, description, run }).${aiSdkToolHint(options)}`)
  const problem = nameProblem(name)
  if (problem) throw invalid(`Tool ${JSON.stringify(name)}: ${problem}.`)
  const what = `Tool "${String(name)}"`
  // before the checks for missing options: an option may be there under the name that another kit uses
  checkOptions(what, options, RULES)
  if (typeof description !== 'string')
    throw invalid(`${what} needs a description, a string that tells the model what the tool does.`)
  if (typeof run !== 'function') throw invalid(`${what} needs a run function: run: (args, context) => result.`)
  checkReconcile(what, options as Pick<Tool, 'effect' | 'reconcile'>)
  const { authConfig = [] } = options as Pick<Tool, 'authConfig'>
  for (const config of [authConfig].flat()) checkAuthConfig(config, what)
}

function invalid(message: string): ToolwrightError {
  return new ToolwrightError('INVALID_CONFIG', message)
}
