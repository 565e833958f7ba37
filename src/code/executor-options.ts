import { anything, gate, type OptionRules } from '../error/check-options.ts'
import { ToolwrightError } from '../error/error.ts'
import type { Tool } from '../tool/tool.ts'

/** Options every executor has. */
export interface CodeExecutorOptions {
  /** Wall clock from start to end, tools the code waits for included. Default 30 000. */
  readonly timeoutMs?: number | undefined
  /** What is kept of what it prints. Default 256 000. */
  readonly maxOutputBytes?: number | undefined
  /** Files taken out after a run. Default 100. */
  readonly maxFiles?: number | undefined
  /** Bytes of all files taken out after a run. Default 10 000 000. */
  readonly maxFileBytes?: number | undefined
  /** Code waits for somebody's yes before it runs, as a tool would. Default no. */
  readonly requiresConfirmation?: Tool['requiresConfirmation']
}

export const EXECUTOR_RULES: OptionRules<CodeExecutorOptions> = {
  timeoutMs: anything,
  maxOutputBytes: anything,
  maxFiles: anything,
  maxFileBytes: anything,
  requiresConfirmation: gate,
}

export type Limits = { readonly [K in keyof Omit<CodeExecutorOptions, 'requiresConfirmation'>]-?: number }

export function limitsOf(options: CodeExecutorOptions): Limits {
  return {
    timeoutMs: positive('timeoutMs', options.timeoutMs, 30_000, MOST_MS),
    maxOutputBytes: positive('maxOutputBytes', options.maxOutputBytes, 256_000),
    maxFiles: positive('maxFiles', options.maxFiles, 100),
    maxFileBytes: positive('maxFileBytes', options.maxFileBytes, 10_000_000),
  }
}

/** A limit that is no positive whole number would be no limit. */
export function positive(
  name: string,
  given: number | undefined,
  fallback: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const value = given ?? fallback
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return value
  throw new ToolwrightError('INVALID_CONFIG', `${name} must be a whole number from 1 to ${most}, not ${String(given)}.`)
}

/** What a timer can count to. */
export const MOST_MS = 2_147_483_647
