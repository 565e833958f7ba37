import { anything, gate, type OptionRules } from '../../core/error/check-options.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Tool } from '../../engine/tool/tool.ts'

/** Options that every code executor accepts. */
export interface CodeExecutorOptions {
  /** Wall-clock time of one run in milliseconds, including the tool calls the code waits for. Default 30 000. */
  readonly timeoutMs?: number | undefined
  /** Bytes of printed output that the result keeps; the rest is cut. Default 256 000. */
  readonly maxOutputBytes?: number | undefined
  /** Number of files the result keeps. Default 100. */
  readonly maxFiles?: number | undefined
  /** Bytes of all files the result keeps. Default 10 000 000. */
  readonly maxFileBytes?: number | undefined
  /** Asks an approver before code runs, as the option of the same name does for a tool. Default `false`. */
  readonly requiresConfirmation?: Tool['requiresConfirmation']
}

/** How `checkOptions` checks the options that every executor accepts. */
export const EXECUTOR_RULES: OptionRules<CodeExecutorOptions> = {
  timeoutMs: anything,
  maxOutputBytes: anything,
  maxFiles: anything,
  maxFileBytes: anything,
  requiresConfirmation: gate,
}

/** The limits of `CodeExecutorOptions` with every default filled in. */
export type ExecutorLimits = { readonly [K in keyof Omit<CodeExecutorOptions, 'requiresConfirmation'>]-?: number }

/** Checks the limits and fills in the defaults. */
export function readExecutorLimits(options: CodeExecutorOptions): ExecutorLimits {
  return {
    timeoutMs: readPositiveInteger('timeoutMs', options.timeoutMs, 30_000, MAX_TIMER_MS),
    maxOutputBytes: readPositiveInteger('maxOutputBytes', options.maxOutputBytes, 256_000),
    maxFiles: readPositiveInteger('maxFiles', options.maxFiles, 100),
    maxFileBytes: readPositiveInteger('maxFileBytes', options.maxFileBytes, 10_000_000),
  }
}

/** Reads a limit. Throws when the value is not a positive integer: comparing with `NaN` or `"5"` would limit nothing. */
export function readPositiveInteger(
  name: string,
  given: number | undefined,
  fallback: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = given ?? fallback
  if (Number.isSafeInteger(value) && value > 0 && value <= max) return value
  throw new ToolwrightError('INVALID_CONFIG', `${name} must be a whole number from 1 to ${max}, got ${String(given)}.`)
}

/** The longest delay a JavaScript timer can wait. */
export const MAX_TIMER_MS = 2_147_483_647
