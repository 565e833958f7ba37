import {
  callback,
  checkMembers,
  flag,
  gate,
  list,
  type OptionRules,
  oneOf,
  text,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { SAFETY_MEMBERS } from './check-tool.ts'
import type { CodeExecutor } from './code-executor.ts'

const RULES: OptionRules<CodeExecutor> = {
  languages: list,
  stateful: flag,
  callsTools: flag,
  effect: oneOf('none', 'atMostOnce'),
  requiresConfirmation: gate,
  instruction: text,
  execute: callback,
  shutdown: callback,
}

/** Throws INVALID_CONFIG if a member of the executor is missing or has the wrong type, or if its gate is misspelled. */
export function checkCodeExecutor(what: string, executor: CodeExecutor): void {
  checkMembers(what, executor, RULES, { ...SAFETY_MEMBERS, names: ['requiresConfirmation', 'effect'] })
  const missing = (['languages', 'execute'] as const).find((member) => executor[member] === undefined)
  if (missing === undefined) return
  const remedy = 'Use an executor of toolwright/code, or an object with languages and execute()'
  throw new ToolwrightError('INVALID_CONFIG', `${what} has no ${missing}. ${remedy}.`)
}
