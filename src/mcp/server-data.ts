// Resources and prompts of a server, as tools.
import type { JsonObject } from '../base/json.ts'
import { messageOf, ToolError } from '../error/error.ts'
import type { ReadonlyContext } from '../tool/context.ts'
import { tool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { isJsonRpcError } from './call/call-error.ts'
import { readContent } from './call/read-result.ts'
import type { McpConnection } from './connection/connection.ts'

/** The server whose data a tool reads. */
export interface DataSource {
  /** The name of the toolset. */
  readonly server: string
  /** Put before the name of the tool. */
  readonly prefix: string
  /** The connection of the user. */
  connect(context: ReadonlyContext): Promise<McpConnection>
}

const MAX_LISTED = 200

/** The tool `load_mcp_resource`: lists the resources of a server, or reads one. */
export function resourceTool({ server, prefix, connect }: DataSource): Tool {
  return tool({
    name: `${prefix}load_mcp_resource`,
    description: `Reads a resource of the MCP server "${server}". Without a uri, lists the resources and the templates of URIs.`,
    parameters: { type: 'object', properties: { uri: { type: 'string' } }, additionalProperties: false } as const,
    effect: 'none',
    run: async ({ uri }, context) => {
      const { client } = await connect(context)
      const options = { signal: context.signal }
      if (uri !== undefined) {
        const { contents } = await orToolError(client.readResource({ uri }, options))
        return readContent(contents.map((resource) => ({ type: 'resource', resource })))
      }
      const { resources } = await orToolError(client.listResources(undefined, options))
      const { resourceTemplates } = await orToolError(client.listResourceTemplates(undefined, options))
      return {
        resources: resources
          .slice(0, MAX_LISTED)
          .map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType })),
        templates: resourceTemplates
          .slice(0, MAX_LISTED)
          .map(({ uriTemplate, name, description }) => ({ uriTemplate, name, description })),
      }
    },
  })
}

/** The tool `load_mcp_prompt`: lists the prompts of a server, or gets one with its arguments filled in. */
export function promptTool({ server, prefix, connect }: DataSource): Tool {
  return tool({
    name: `${prefix}load_mcp_prompt`,
    description: `Gets a prompt of the MCP server "${server}". Without a name, lists the prompts and their arguments.`,
    parameters: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object', additionalProperties: { type: 'string' } } },
      additionalProperties: false,
    } as const,
    effect: 'none',
    run: async ({ name, arguments: given }, context) => {
      const { client } = await connect(context)
      const options = { signal: context.signal }
      if (name !== undefined) {
        const args = given as Record<string, string> | undefined
        const prompt = await orToolError(client.getPrompt({ name, ...(args && { arguments: args }) }, options))
        return {
          description: prompt.description,
          messages: prompt.messages.map(({ role, content }): JsonObject => ({ role, ...readContent([content]) })),
        }
      }
      const { prompts } = await orToolError(client.listPrompts(undefined, options))
      return {
        prompts: prompts
          .slice(0, MAX_LISTED)
          .map(({ name, description, arguments: args }) => ({ name, description, arguments: args })),
      }
    },
  })
}

/** Waits for the answer of the server. Its error becomes an error for the model. */
async function orToolError<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (isJsonRpcError(error)) throw new ToolError(messageOf(error), { code: 'INVALID_ARGS', cause: error })
    throw error
  }
}
