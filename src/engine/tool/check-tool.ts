import {
  anything,
  callback,
  checkMembers,
  flag,
  gate,
  type OptionRules,
  oneOf,
  type Rule,
  recordOrList,
  text,
} from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import { checkAuthConfig } from '../../services/auth/config/check-auth-config.ts'
import { isPlace } from './call-place.ts'
import type { Tool } from './tool.ts'
import { kindOfTool } from './tool-marks.ts'

/** The longest delay of a timer in milliseconds. A longer one fires at once. */
const MAX_TIMER_MS = 2_147_483_647

const timeout: Rule = {
  expects: `a positive number of milliseconds, at most ${MAX_TIMER_MS} or Infinity`,
  accepts: (value) =>
    typeof value === 'number' && value > 0 && (value <= MAX_TIMER_MS || value === Number.POSITIVE_INFINITY),
}
const duration: Rule = {
  expects: 'a positive number of milliseconds',
  accepts: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
}
const middleware: Rule = {
  expects: 'a list of functions',
  accepts: (value) => Array.isArray(value) && value.every(callback.accepts),
}
const place: Rule = {
  expects: 'data (texts, numbers, lists, plain objects) or a function that returns it',
  hint: () => 'Other values look the same after a change, and an approval is bound to it.',
  accepts: (value) => typeof value === 'function' || isPlace(value),
}
/** Rules for the members that `Tool` and the options of `tool()` share. */
export const COMMON_RULES: OptionRules<Omit<Tool, 'declaration' | 'parse' | 'confirmationHint'>> = {
  name: text,
  description: text,
  run: callback,
  isLongRunning: flag,
  authConfig: recordOrList,
  effect: oneOf('none', 'idempotent', 'reconcilable', 'atMostOnce'),
  reconcile: callback,
  cancel: callback,
  outputSchema: anything,
  toModelOutput: callback,
  timeoutMs: timeout,
  sequential: flag,
  mayRepeat: flag,
  allowEditedArgs: flag,
  expiresInMs: duration,
  middleware,
  requiresConfirmation: gate,
  sendsTo: place,
  processLlmRequest: callback,
}

const TOOL_RULES: OptionRules<Tool> = {
  ...COMMON_RULES,
  declaration: callback,
  parse: callback,
  confirmationHint: callback,
}

/** Members that make a call safer. A misspelled one is an error, never ignored. */
export const SAFETY_MEMBERS: {
  readonly names: readonly string[]
  readonly synonyms: { readonly [misspelling: string]: string }
} = {
  names: [
    'requiresConfirmation',
    'authConfig',
    'effect',
    'allowEditedArgs',
    'isLongRunning',
    'timeoutMs',
    'expiresInMs',
    'sequential',
    'middleware',
    'reconcile',
    'outputSchema',
    'sendsTo',
  ],
  synonyms: {
    confirm: 'requiresConfirmation',
    confirmation: 'requiresConfirmation',
    requireConfirm: 'requiresConfirmation',
    requiresConfirm: 'requiresConfirmation',
    needsConfirmation: 'requiresConfirmation',
    needsApproval: 'requiresConfirmation',
    requireApproval: 'requiresConfirmation',
    requiresApproval: 'requiresConfirmation',
    sideEffect: 'effect',
    sideEffects: 'effect',
  },
}

/** Throws INVALID_CONFIG if a member of the tool is misspelled or has the wrong type. */
export function checkTool(tool: Tool): void {
  const what = `Tool "${tool.name}"`
  checkMembers(what, tool, TOOL_RULES, SAFETY_MEMBERS)
  checkReconcile(what, tool)
  for (const config of [tool.authConfig ?? []].flat()) checkAuthConfig(config, what)
  if (!tool.isLongRunning || kindOfTool(tool) !== 'agent') return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${what} is an agent tool and cannot be long-running: it returns when its agent is done. Make a tool of that agent long-running instead.`,
  )
}

/** Throws INVALID_CONFIG if a reconcilable tool has no `reconcile`. */
export function checkReconcile(what: string, { effect, reconcile }: Pick<Tool, 'effect' | 'reconcile'>): void {
  if (effect !== 'reconcilable' || typeof reconcile === 'function') return
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `${what} has effect "reconcilable" but no reconcile function. Add one that finds out whether an interrupted attempt took effect.`,
  )
}
