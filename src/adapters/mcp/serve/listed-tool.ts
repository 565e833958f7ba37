// A tool as an MCP client sees it in `tools/list`.
import { agentToolSettings } from '../../../engine/agent/agents/agent-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'
import { type ObjectSchema, outputSchemaOf } from './output-schema.ts'

/** An entry of `tools/list`. */
export interface ListedTool {
  /** The name a client calls. */
  readonly name: string
  /** What the tool does. */
  readonly description: string
  /** The JSON Schema of the arguments. */
  readonly inputSchema: ObjectSchema
  /** The JSON Schema of `structuredContent`. */
  readonly outputSchema?: ObjectSchema
  /** Hints about the effects of the tool. */
  readonly annotations?: { readonly readOnlyHint: boolean; readonly idempotentHint?: boolean }
}

/** The entry of a tool. Undefined for a tool that only adds to model requests. */
export function listedTool(tool: Tool): ListedTool | undefined {
  const declaration = tool.declaration()
  if (!declaration) return undefined
  const { name, description, parametersJsonSchema } = declaration
  const outputSchema = outputSchemaOf(tool)?.jsonSchema
  const annotations = annotationsOf(tool)
  return {
    name,
    description,
    inputSchema: { ...parametersJsonSchema, type: 'object' },
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  }
}

/** An agent declares no effect of its own: what its tools do is not known before the call. */
function annotationsOf(tool: Tool): ListedTool['annotations'] | undefined {
  if (agentToolSettings(tool)) return undefined
  const { effect = 'atMostOnce' } = tool
  return effect === 'none' ? { readOnlyHint: true } : { readOnlyHint: false, idempotentHint: effect === 'idempotent' }
}
