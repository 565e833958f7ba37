// A tool as an MCP client sees it in `tools/list`.
import { agentToolSettings } from '../../agent/agents/agent-tool.ts'
import type { JsonObject } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import type { Tool } from '../../tool/tool.ts'

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

/** A JSON Schema of an object. */
export interface ObjectSchema extends JsonObject {
  /** The type of the value. */
  readonly type: 'object'
}

/** The entry of a tool. Undefined for a tool that only adds to model requests. */
export function listedTool(tool: Tool): ListedTool | undefined {
  const declaration = tool.declaration()
  if (!declaration) return undefined
  const { name, description, parametersJsonSchema } = declaration
  const outputSchema = outputSchemaOf(tool, declaration)
  const annotations = annotationsOf(tool)
  return {
    name,
    description,
    inputSchema: { ...parametersJsonSchema, type: 'object' },
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  }
}

/**
 * The schema of the structured result. Undefined if results are not objects, or if the call returns a handle first, which
 * has another shape.
 */
export function outputSchemaOf({ isLongRunning }: Tool, declaration: FunctionDeclaration): ObjectSchema | undefined {
  const { responseJsonSchema } = declaration
  if (isLongRunning || responseJsonSchema?.type !== 'object') return undefined
  return responseJsonSchema as ObjectSchema // its type was checked
}

/** An agent declares no effect of its own: what its tools do is not known before the call. */
function annotationsOf(tool: Tool): ListedTool['annotations'] | undefined {
  if (agentToolSettings(tool)) return undefined
  const { effect = 'atMostOnce' } = tool
  return effect === 'none' ? { readOnlyHint: true } : { readOnlyHint: false, idempotentHint: effect === 'idempotent' }
}
