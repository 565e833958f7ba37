// Resources and prompts of a server, as tools.
import type { Client } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/base/json.ts'
import type { ToolContext } from '../../engine/context/context.ts'
import { partsOf, withParts } from '../../engine/context/result-parts.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import { isJsonRpcError } from './call/call-error.ts'
import { readContent } from './call/read-result.ts'
import { MAX_LISTED } from './limits.ts'

/** Options of a request to the server. */
interface ReadOptions {
  /** Cancels the request. */
  readonly signal: AbortSignal
  /** How long it may take, in milliseconds. */
  readonly timeout: number
  /** Names the request, so that it gets the headers of its context. */
  readonly headers?: Record<string, string>
}

/** The server whose data a tool reads. */
export interface DataSource {
  /** The name of the toolset. */
  readonly server: string
  /** Put before the name of the tool. */
  readonly prefix: string
  /** Where the server is, for approvals. */
  sendsTo(): JsonObject
  /** Asks the server, over the connection of the user. Its errors become errors for the model. */
  read(context: ToolContext, ask: (client: Client, options: ReadOptions) => Promise<JsonObject>): Promise<JsonObject>
}

/** The tool `load_mcp_resource`: lists the resources of a server, or reads one. */
export function resourceTool({ server, prefix, sendsTo, read }: DataSource): Tool {
  return tool({
    name: `${prefix}load_mcp_resource`,
    description: `Reads a resource of the MCP server "${server}". Without a uri, lists the resources and the templates of URIs.`,
    parameters: { type: 'object', properties: { uri: { type: 'string' } }, additionalProperties: false } as const,
    effect: 'none',
    sendsTo,
    run: ({ uri }, context) =>
      read(context, async (client, options) => {
        if (uri === undefined) return await listResources(client, options)
        const { contents } = await client.readResource({ uri }, options)
        return readContent(contents.map((resource) => ({ type: 'resource', resource })))
      }),
  })
}

async function listResources(client: Client, options: ReadOptions): Promise<JsonObject> {
  const { resources } = await client.listResources(undefined, options)
  const { resourceTemplates } = await client.listResourceTemplates(undefined, options).catch((error) => {
    if (isJsonRpcError(error)) return { resourceTemplates: [] } // many servers have none
    throw error
  })
  return {
    resources: resources
      .slice(0, MAX_LISTED)
      .map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType })),
    templates: resourceTemplates
      .slice(0, MAX_LISTED)
      .map(({ uriTemplate, name, description }) => ({ uriTemplate, name, description })),
  }
}

/** The tool `load_mcp_prompt`: lists the prompts of a server, or gets one with its arguments filled in. */
export function promptTool({ server, prefix, sendsTo, read }: DataSource): Tool {
  return tool({
    name: `${prefix}load_mcp_prompt`,
    description: `Gets a prompt of the MCP server "${server}". Without a name, lists the prompts and their arguments.`,
    parameters: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object', additionalProperties: { type: 'string' } } },
      additionalProperties: false,
    } as const,
    effect: 'none',
    sendsTo,
    run: ({ name, arguments: given }, context) =>
      read(context, async (client, options) => {
        if (name === undefined) return await listPrompts(client, options)
        const args = given as Record<string, string> | undefined
        const prompt = await client.getPrompt({ name, ...(args && { arguments: args }) }, options)
        const contents = prompt.messages.map(({ content }) => readContent([content]))
        const messages = contents.map((content, at): JsonObject => ({ role: prompt.messages[at]?.role, ...content }))
        const media = contents.flatMap((content) => partsOf(content) ?? []) // a spread leaves them out
        return withParts({ description: prompt.description, messages }, media)
      }),
  })
}

async function listPrompts(client: Client, options: ReadOptions): Promise<JsonObject> {
  const { prompts } = await client.listPrompts(undefined, options)
  return {
    prompts: prompts
      .slice(0, MAX_LISTED)
      .map(({ name, description, arguments: args }) => ({ name, description, arguments: args })),
  }
}
