// What JSON cannot hold in a result: functions and symbols are left out, and a tool is no result at all.
import { findDropped } from '../../core/base/dropped-values.ts'
import type { Tool } from '../tool/tool.ts'
import { isTool } from '../tool/tool.ts'
import { isToolset } from '../tool/toolset.ts'
import type { Logger } from './host.ts'

/** The last warning of each tool: every call of a tool would repeat it. */
const warned: WeakMap<Tool, string> = new WeakMap()

/** Warns the operator about functions and symbols that are left out of a result, with their paths. */
export function warnDropped(tool: Tool, value: unknown, logger: Logger): void {
  const paths = findDropped(value).map(({ path, kind }) => (path === '' ? `the ${kind} itself` : `${path} (${kind})`))
  const where = paths.length === 0 ? 'a value inside' : paths.join(', ')
  const warning = `The result of tool "${tool.name}" has values that JSON cannot hold, so they are left out: ${where}. Return data instead.`
  if (warned.get(tool) === warning) return
  warned.set(tool, warning)
  logger.warn(warning)
}

/** Why a value is no result: a function that makes tools was listed instead of called. Undefined for other values. */
export function toolAsResult(tool: Tool, value: unknown): string | undefined {
  const kind = isTool(value) ? 'tool' : isToolset(value) ? 'toolset' : undefined
  if (kind === undefined) return undefined
  return `Tool "${tool.name}" returned a ${kind} instead of a result. Its function makes tools: call it where the tools of the agent are listed.`
}
