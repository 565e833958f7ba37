import { copyJson, type JsonObject } from '../../core/base/json.ts'
import type { Tool } from '../tool/tool.ts'

/**
 * The arguments of a recorded call as its body got them, for `reconcile` and `cancel`. The log has what the model sent: dates as text,
 * and no defaults. If the schema of the tool has changed and refuses the arguments, they are passed as they were recorded.
 */
export async function bodyArgs(tool: Tool, recorded: JsonObject): Promise<unknown> {
  const parsed = await tool.parse?.(copyJson(recorded))
  return parsed && !parsed.issues ? parsed.value : copyJson(recorded)
}
