// A tool of an MCP server as a tool of an agent.
import { showInvisible } from '../../../core/base/escape.ts'
import type { JsonObject } from '../../../core/base/json.ts'
import { clip } from '../../../core/base/limits.ts'
import type { AuthConfig } from '../../../core/content/auth.ts'
import type { ReadonlyContext, ToolContext } from '../../../engine/context/context.ts'
import type { Effect, Tool } from '../../../engine/tool/tool.ts'
import { DEFINITION } from '../../../engine/tool/tool-marks.ts'
import { MAX_CALL_MS, PROGRESS_MS } from '../limits.ts'
import type { ServerTool } from '../listing/server-tool.ts'
import type { McpProgress, McpToolsetOptions } from '../mcp-toolset-options.ts'
import { withoutAppMeta } from './read-result.ts'

/** What a tool needs from its toolset. */
interface ToolParts {
  /** The name under which the model calls the tool. */
  readonly name: string
  /** The tool at the server. */
  readonly tool: ServerTool
  /** The name of the toolset. */
  readonly server: string
  /** The options of the toolset. */
  readonly options: McpToolsetOptions
  /** The credential of every call. */
  readonly authConfig: AuthConfig | undefined
  /** Where the server is, for approvals. */
  sendsTo(): JsonObject
  /** Calls the server. */
  call(call: ToolCall): Promise<JsonObject | undefined>
}

/** One call of a tool. */
export interface ToolCall {
  /** The tool at the server. */
  readonly tool: ServerTool
  /** Its side effects. */
  readonly effect: Effect
  /** The checked arguments. */
  readonly args: JsonObject
  /** The context of the call. */
  readonly context: ToolContext
  /** Called with progress of the server. */
  onProgress(progress: ShownProgress): void
}

/** Progress as users see it. */
export type ShownProgress = Omit<McpProgress, 'tool'>

/** Makes the tool. */
export function mcpTool({ name, tool, server, options, authConfig, sendsTo, call }: ToolParts): Tool {
  const { requiresConfirmation, allowEditedArgs = false, onProgress } = options
  const isEditable = typeof allowEditedArgs === 'boolean' ? allowEditedArgs : allowEditedArgs.includes(tool.name)
  const effect = options.effect?.(tool.name, tool.annotations) ?? 'atMostOnce'
  const declaration = {
    name,
    description: clip(tool.description),
    parametersJsonSchema: tool.inputSchema,
    ...(tool.outputSchema && { responseJsonSchema: tool.outputSchema }),
  }
  const made: Tool & { readonly [DEFINITION]: string } = {
    name,
    description: declaration.description,
    declaration: () => declaration,
    effect,
    timeoutMs: MAX_CALL_MS, // `callTimeoutMs` ends a call, and progress extends it
    requiresConfirmation:
      typeof requiresConfirmation === 'function'
        ? (args: JsonObject, context: ReadonlyContext) => requiresConfirmation(args, context, tool)
        : requiresConfirmation,
    confirmationHint: () => `Approve execution of tool \`${showInvisible(tool.name)}\` of the MCP server "${server}"?`,
    ...(isEditable && { allowEditedArgs: true }),
    ...(authConfig && { authConfig }),
    ...(tool.resourceUri !== undefined && { toModelOutput: withoutAppMeta }),
    sendsTo,
    [DEFINITION]: tool.hash,
    run: (args, context) => {
      const show = throttle((progress) => {
        context.progress(progress)
        onProgress?.({ ...progress, tool: tool.name }, context)
      })
      return call({ tool, effect, args: args as JsonObject, context, onProgress: show })
    },
  }
  return Object.freeze(made)
}

/** Calls the function at most once per `PROGRESS_MS`. A server that sends more loses the values between. */
function throttle(show: (progress: ShownProgress) => void): (progress: ShownProgress) => void {
  let shownAt = Number.NEGATIVE_INFINITY
  return (progress) => {
    const now = performance.now()
    if (now - shownAt < PROGRESS_MS) return
    shownAt = now
    show(progress)
  }
}
