// The tools of remote toolsets in a recording: what they were, as tools that a replay declares, and what has changed since.
import { canonicalJson } from '../../../core/base/json.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import type { RecordedLog } from './recorded-log.ts'
import type { RecordedTool } from './recording.ts'

/** A tool as a recording keeps it. Undefined for one that no model sees. */
export function describeTool(tool: Tool): RecordedTool | undefined {
  const declaration = tool.declaration()
  if (!declaration) return undefined
  const { name, description, parametersJsonSchema } = declaration
  return {
    name,
    description,
    ...(parametersJsonSchema && { parameters: parametersJsonSchema }),
    ...(tool.effect && { effect: tool.effect }),
    ...(tool.isLongRunning && { isLongRunning: true }),
  }
}

/** Marks tools of a recording. Filters and prefixes around their toolset keep the mark. */
const RECORDED = Symbol('recorded')

/** The tool for a replay. */
export function toolOfRecording({ name, description, parameters, effect, isLongRunning }: RecordedTool): Tool {
  const declaration = { name, description, ...(parameters && { parametersJsonSchema: parameters }) }
  const made: Tool & { readonly [RECORDED]: true } = {
    name,
    description,
    declaration: () => declaration,
    run: () => undefined, // the recorded result replaces it
    ...(effect && { effect }),
    ...(isLongRunning && { isLongRunning }),
    [RECORDED]: true,
  }
  return made
}

/** The gate of a tool of a recording is recorded, too: a call that was asked about is asked about again, with the same text. */
export function recordedGate(tool: Tool, log: RecordedLog): Partial<Tool> {
  if (!(RECORDED in tool)) return {}
  const ofTool = new Set(log.calls().flatMap(({ id, name }) => (name === tool.name ? id : [])))
  const requests = log.requestRecords().filter(({ callId, origin }) => origin === 'gate' && ofTool.has(callId))
  if (requests.length === 0) return {}
  const asked = new Map(requests.map((request) => [canonicalJson(request.args), request]))
  return {
    requiresConfirmation: (args) => asked.has(canonicalJson(args)),
    confirmationHint: (args) => asked.get(canonicalJson(args))?.hint ?? '',
    allowEditedArgs: requests.some(({ editable }) => editable),
  }
}

/** How the tools that a server lists today differ from the recorded ones, a sentence for each. */
export function changesOfTools(toolset: string, recorded: readonly RecordedTool[], listed: readonly Tool[]): string[] {
  const today = new Map(listed.flatMap((tool) => describeTool(tool) ?? []).map((tool) => [tool.name, tool]))
  const before = new Map(recorded.map((tool) => [tool.name, tool]))
  const of = `of toolset "${toolset}"`
  const changed = [...today.values()].flatMap((tool) => {
    const known = before.get(tool.name)
    if (!known) return `Tool "${tool.name}" ${of} is not in the recording.`
    const members = (['description', 'parameters', 'effect', 'isLongRunning'] as const).filter(
      (member) => canonicalJson(known[member] ?? null) !== canonicalJson(tool[member] ?? null),
    )
    if (members.length === 0) return []
    return `Tool "${tool.name}" ${of} has changed since the recording: ${members.join(', ')}.`
  })
  const gone = recorded.filter(({ name }) => !today.has(name))
  return [...changed, ...gone.map(({ name }) => `Tool "${name}" ${of} is in the recording, and not listed any more.`)]
}
