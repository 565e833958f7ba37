import { isAllowed, type RunPhases } from '../../dispatch/run-phases.ts'
import type { LlmRequest } from '../../model/llm-request.ts'
import type { ConfigTool } from '../../model/llm-request-config.ts'

/**
 * Adds the instruction of the phase to a request, and leaves out the declarations of tools that the phase does not allow. Server tools
 * were left out when the request was built.
 */
export async function applyPhase(request: LlmRequest, phases: RunPhases): Promise<LlmRequest> {
  const allowed = phases.allowedTools()
  const { config } = request
  if (allowed && config.tools) config.tools = config.tools.flatMap((entry) => allowedEntry(entry, allowed))
  const instruction = await phases.instruction()
  if (instruction !== '') request.appendInstruction(instruction)
  return request
}

/**
 * Removes the server tools that a tool has just added, because the phase does not allow it: their calls do not pass the dispatcher,
 * which would refuse them.
 */
export function dropServerTools({ config }: LlmRequest, before: readonly ConfigTool[]): void {
  if (!config.tools) return
  config.tools = config.tools.filter((entry) => entry.functionDeclarations || before.includes(entry))
  if (config.tools.length === 0) delete config.tools
}

function allowedEntry(entry: ConfigTool, allowed: ReadonlySet<string>): ConfigTool[] {
  if (!entry.functionDeclarations) return [entry]
  const functionDeclarations = entry.functionDeclarations.filter(({ name }) => isAllowed(allowed, name))
  return functionDeclarations.length ? [{ ...entry, functionDeclarations }] : []
}
