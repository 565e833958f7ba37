import { checkOptions, type OptionRules, objectWith, oneOf } from '../../core/error/check-options.ts'
import { overrideTool } from '../tool/override-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { requireTool } from './check-policy.ts'
import type { ResultFormatter } from './result-formatter.ts'

const BACKGROUND: unique symbol = Symbol.for('toolwright.background')

/** Options of `background()`. */
export interface BackgroundOptions {
  /**
   * When a live model reacts to the result: at once (`INTERRUPT`), after what it says now (`WHEN_IDLE`), or not at all (`SILENT`).
   * Default `WHEN_IDLE`.
   */
  readonly scheduling?: 'INTERRUPT' | 'WHEN_IDLE' | 'SILENT' | undefined
  /** Writes what the model reads. Default: `{ status, tool, result }`. */
  readonly formatter?: ResultFormatter | undefined
}

const RULES: OptionRules<BackgroundOptions> = {
  scheduling: oneOf('INTERRUPT', 'WHEN_IDLE', 'SILENT'),
  formatter: objectWith('formatRunning', 'formatResult', 'formatCancelled'),
}

/**
 * Runs a tool in the background. The model gets `{ status: 'running' }` at once and goes on, and the result follows. In a live
 * session the model speaks meanwhile. In a text run, the call is pending like a long-running one, and the body continues in
 * this process until it returns or the runner is closed.
 *
 * @example
 * const search = background(searchArchive, { scheduling: 'INTERRUPT' })
 */
export function background<T extends Tool>(tool: T, options: BackgroundOptions = {}): T {
  requireTool('background', tool)
  return overrideTool(tool, { [BACKGROUND]: checkBackground(`background() of tool "${tool.name}"`, options) })
}

/** Checks the options of a background tool. */
export function checkBackground(subject: string, options: BackgroundOptions): BackgroundOptions {
  checkOptions(subject, options, RULES)
  return options
}

/** The options that `background()` has set, also through other policies. Undefined for other tools. */
export function backgroundOf(tool: Tool | undefined): BackgroundOptions | undefined {
  return (tool as { [BACKGROUND]?: BackgroundOptions } | undefined)?.[BACKGROUND]
}
