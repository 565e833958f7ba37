// The schema of `structuredContent`. A client refuses a result that does not match it, so it describes what the response
// is after the tool's `outputSchema` has converted it.

import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { type CompiledSchema, compileSchema } from '../../../core/schema/compile.ts'
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'

/** A JSON Schema of an object. */
export interface ObjectSchema extends JsonObject {
  /** The type of the value. */
  readonly type: 'object'
}

/** A compiled output schema. */
export interface OutputSchema {
  /** The JSON Schema that clients see. */
  readonly jsonSchema: ObjectSchema
  /** Checks a response. */
  readonly parse: CompiledSchema['parse']
}

const compiled: WeakMap<Tool, OutputSchema | 'none'> = new WeakMap()

/**
 * The output schema of a tool. Undefined if responses are not objects, if JSON Schema cannot describe them, or if the call
 * returns a handle first, which has another shape.
 */
export function outputSchemaOf(tool: Tool): OutputSchema | undefined {
  const known = compiled.get(tool)
  if (known) return known === 'none' ? undefined : known
  const made = compileOutput(tool)
  compiled.set(tool, made ?? 'none')
  return made
}

function compileOutput(tool: Tool): OutputSchema | undefined {
  try {
    const jsonSchema = tool.isLongRunning ? undefined : convertedSchema(tool)
    if (!isRecord(jsonSchema) || jsonSchema.type !== 'object') return undefined
    const { parse } = compileSchema(jsonSchema, `The output schema of tool "${tool.name}"`)
    return { jsonSchema: jsonSchema as ObjectSchema, parse } // its type was checked
  } catch {
    return undefined // results are sent as text only
  }
}

/** The JSON Schema of what `outputSchema` returns. The declaration describes what it accepts. */
function convertedSchema(tool: Tool): unknown {
  const { '~standard': standard } = (tool.outputSchema ?? {}) as { '~standard'?: StandardSchema }
  const convert = standard?.jsonSchema?.output
  if (!convert || agentToolSettings(tool)) return tool.declaration()?.responseJsonSchema
  return convert({ target: 'draft-2020-12' })
}

interface StandardSchema {
  readonly jsonSchema?: { output?(options: { target: string }): unknown }
}
